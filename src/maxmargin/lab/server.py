"""The server behind the page: this machine only, one token, five questions, no files.

Whoever asks must know the token in the address, and must ask for 127.0.0.1 or localhost by name, so that no page of another site
can ask through the browser's back door (DNS rebinding). What may be asked is in `QUESTIONS`; the page itself was read before.
"""

import asyncio
import hmac
import json
import secrets
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Self

from maxmargin.errors import InvalidInputError, MaxMarginError, MissingExtraError
from maxmargin.lab.answers import answer, compared, place_outside
from maxmargin.lab.lessons import IsOver, closing, left_out, steps
from maxmargin.lab.presets import presets
from maxmargin.lab.state import Comparison, State, index_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOME = "127.0.0.1"
"""The one address that is listened on."""

MOST_BYTES, MOST_CONNECTIONS, SECONDS_TO_SEND = 100_000, 32, 10.0
"""Length of a question, which 500 points fill to a third; connections at a time; seconds in which a question must have come."""

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may do: nothing that is not here."""

HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""What every answer comes with."""


@dataclass(frozen=True)
class Question:
    """What is asked about: a state, and of some questions also another machine or a point."""

    state: State
    comparison: Comparison | None = None
    point: int | None = None

    @classmethod
    def of(cls, body: bytes) -> Self:
        """From JSON; numbers that JSON does not know are refused, and so is what is nested too deeply or not known here."""
        try:
            given = json.loads(body, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError("The question must be JSON.") from error
        if not isinstance(given, dict) or not set(given) <= {"state", "comparison", "point"}:
            raise InvalidInputError("The question must be an object with state, comparison or point.")
        state = State.of(given.get("state"))
        point = given.get("point")
        return cls(state, Comparison.of(given.get("comparison"), state), None if point is None else index_of(point, state))


def _refuse(constant: str) -> Any:
    raise InvalidInputError(f"{constant} is no number of JSON.")


def _outside(question: Question, _: IsOver) -> dict[str, Any]:
    if question.point is None:
        raise InvalidInputError("A point must be named.")
    return {"place": place_outside(question.state, question.point)}


QUESTIONS: dict[str, Callable[[Question, IsOver], dict[str, Any]]] = {
    "fit": lambda asked, _: answer(asked.state, asked.comparison),
    "outside": _outside,
    "steps": lambda asked, _: steps(asked.state),
    "closing": lambda asked, is_over: closing(compared(asked.state, asked.comparison)[0], is_over),
    "left_out": lambda asked, is_over: left_out(asked.state, is_over),
}
"""What may be asked, and how it is answered."""

PATIENT = ("left_out", "closing")
"""Questions that wait in a line of their own, and end early where a newer question comes."""


class Line:
    """Who is answered first: one quick and one patient question at a time; a quick one ends the patient one."""

    def __init__(self) -> None:
        self.turn, self.quick, self.patient = 0, ThreadPoolExecutor(1), ThreadPoolExecutor(1)

    async def run(self, name: str, asked: Question) -> dict[str, Any]:
        """The answer, or why there is none, when its turn has come."""
        is_patient = name in PATIENT
        self.turn += not is_patient
        own, waiting = self.turn, self.patient if is_patient else self.quick
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(waiting, QUESTIONS[name], asked, lambda: self.turn != own)
        except MaxMarginError as error:
            return {"error": str(error)}


class Guard:
    """Lets nobody pass who asks another host, does not know the token, or comes from another site."""

    def __init__(self, app: "ASGIApp", token: str, hosts: tuple[str, ...]) -> None:
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Refuse, or hand on with the token taken off the path. Every answer gets `HEADERS`."""
        from starlette.responses import PlainTextResponse

        if scope["type"] != "http":
            return

        async def with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        token, slash, place = scope["path"].removeprefix("/").partition("/")
        refusal = self._refusal(scope["headers"], token if slash else "")
        if refusal is not None:
            await PlainTextResponse(refusal, 403)(scope, receive, with_headers)
        else:
            there = {**scope, "path": f"/{place}", "raw_path": f"/{place}".encode()}
            await self.app(there, receive, with_headers)

    def _refusal(self, headers: list[tuple[bytes, bytes]], token: str) -> str | None:
        """Why nobody passes, or None."""
        hosts, origins = ([value.decode("latin-1") for key, value in headers if key == name] for name in (b"host", b"origin"))
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return "This is not the host that was asked for."
        if any(origin.removeprefix("http://") not in self.hosts for origin in origins):
            return "Another site has no business here."
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return "The address lacks its token: use the one that was printed."
        return None


def assets() -> dict[str, bytes]:
    """The files of the page, read once; nothing else is served."""
    return {one.name: one.read_bytes() for one in files("maxmargin.lab").joinpath("page").iterdir() if one.is_file()}


def application(token: str, port: int) -> "ASGIApp":
    """The whole server, as an ASGI application."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route

    pages, sets, line = assets(), presets(), Line()

    async def page(request: "Request") -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in pages:
            return PlainTextResponse("There is no such page.", 404)
        return Response(pages[name], media_type=TYPES[name.rpartition(".")[2]])

    async def known(request: "Request") -> Response:
        return JSONResponse(sets)

    async def ask(request: "Request", name: str) -> Response:
        if request.headers.get("content-type") != "application/json":
            return JSONResponse({"error": "Questions are application/json."}, 415)
        try:
            body = await asyncio.wait_for(_body(request), SECONDS_TO_SEND)
        except TimeoutError:
            return JSONResponse({"error": "The question took too long to come."}, 408)
        if body is None:
            return JSONResponse({"error": f"A question has at most {MOST_BYTES} bytes."}, 413)
        try:
            question = Question.of(body)
        except InvalidInputError as error:
            return JSONResponse({"error": str(error)}, 400)
        return JSONResponse(await line.run(name, question))

    routes = [Route("/", page), Route("/presets", known)]
    routes += [Route(f"/{name}", partial(ask, name=name), methods=["POST"]) for name in QUESTIONS]
    routes += [Route("/{name}", page)]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False
    return Guard(app, token, (f"{HOME}:{port}", f"localhost:{port}"))


async def _body(request: "Request") -> bytes | None:
    """All of it, or None where it is too long: then the rest is not read."""
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > MOST_BYTES:
            return None
    return bytes(found)


class Lab:
    """A server that is ready to run; it listens on 127.0.0.1 from the begin on.

    Parameters
    ----------
    port : int
        0 takes a free one.

    Attributes
    ----------
    address : str
        What to open: it holds the token, which is new each time.
    """

    def __init__(self, port: int = 0) -> None:
        try:
            import starlette  # noqa: F401  (what answers; uvicorn is what listens)
            import uvicorn
        except ImportError as error:
            raise MissingExtraError("The lab needs starlette and uvicorn. Run: pip install 'maxmargin[lab]'") from error
        self._socket = socket.create_server((HOME, port))
        self.port, self.token = int(self._socket.getsockname()[1]), secrets.token_urlsafe(24)
        self.address = f"http://{HOME}:{self.port}/{self.token}/"
        config = uvicorn.Config(
            application(self.token, self.port), lifespan="off", ws="none", http="h11", loop="asyncio", log_level="error",
            access_log=False, server_header=False, limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=30, proxy_headers=False,
        )  # fmt: skip
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Answer until Ctrl-C, or until `stop` is called from another thread."""
        self._server.run([self._socket])

    def stop(self) -> None:
        """End `run` soon."""
        self._server.should_exit = True
