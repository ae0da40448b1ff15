"""What attackers would try: every refusal is a status and a sentence, and the lab goes on answering."""

import json
import socket
import threading
import time

import pytest

from maxmargin import SVC
from maxmargin.lab.presets import presets
from maxmargin.lab.server import MOST_BYTES, QUESTIONS, assets
from maxmargin.lab.state import State
from tests.lab.serving import ask, running, send

CASES = next(one["state"] for one in presets() if one["name"] == "Leave-one-out cases")


@pytest.fixture(scope="module")
def lab():
    with running() as one:
        yield one


@pytest.fixture(autouse=True)
def _it_still_answers(lab):
    yield
    assert ask(lab, "fit", state=CASES)[0] == 200


def test_the_page_and_its_files_are_there_and_nothing_else_may_be_loaded(lab):
    for name in ("", *assets()):
        status, headers, content = send(lab, "GET", f"/{lab.token}/{name}")
        assert status == 200
        assert content
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"


def test_it_listens_on_the_loopback_address_only(lab):
    assert lab._socket.getsockname()[0] == "127.0.0.1"
    try:
        others = {found[4][0] for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    except OSError:
        others = set()
    for other in others - {one for one in others if one.startswith("127.")}:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((other, lab.port), timeout=2)


def test_the_token_is_long_and_new_each_time(lab):
    assert len(lab.token) >= 32
    with running() as other:
        assert other.token != lab.token
        assert send(other, "GET", f"/{lab.token}/")[0] == 403


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", "[::1]:{port}",
     "0.0.0.0:{port}", "localhost", "localhost:{port}@evil.example"],
)  # fmt: skip
@pytest.mark.parametrize(("method", "name"), [("GET", ""), ("GET", "lab.js"), ("POST", "fit")])
def test_another_host_gets_nothing(lab, host, method, name):
    """As a page of another site would, whose name has been made to mean 127.0.0.1."""
    body = json.dumps({"state": CASES}).encode() if method == "POST" else None
    headers = {"Host": None if host is None else host.format(port=lab.port)}
    status, _, content = send(lab, method, f"/{lab.token}/{name}", body, headers)
    assert status in (400, 403)
    assert b"maxmargin lab" not in content
    assert b"outlines" not in content


def test_this_machine_may_be_called_localhost(lab):
    assert send(lab, "GET", f"/{lab.token}/", headers={"Host": f"localhost:{lab.port}"})[0] == 200


@pytest.mark.parametrize("token", ["", "x", "{token}x", "{half}", "{swapped}", "%00", "%C3%A9", "%ff", "null", "{token}%00"])
@pytest.mark.parametrize(("method", "name"), [("GET", ""), ("GET", "lab.js"), ("GET", "presets"), ("POST", "fit")])
def test_without_the_token_there_is_nothing(lab, token, method, name):
    token = token.format(token=lab.token, half=lab.token[: len(lab.token) // 2], swapped=lab.token.swapcase())
    path = f"/{token}/{name}"
    body = json.dumps({"state": CASES}).encode() if method == "POST" else None
    status, _, content = send(lab, method, path, body)
    assert status == 403
    assert b"outlines" not in content


def test_the_token_alone_without_a_slash_is_refused(lab):
    assert send(lab, "GET", f"/{lab.token}")[0] == 403


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:{port}"]
)
def test_another_site_cannot_ask(lab, origin):
    headers = {"Origin": origin.format(port=lab.port)}
    assert send(lab, "POST", f"/{lab.token}/fit", json.dumps({"state": CASES}).encode(), headers)[0] == 403


def test_the_page_itself_may_ask(lab):
    headers = {"Origin": f"http://127.0.0.1:{lab.port}"}
    assert send(lab, "POST", f"/{lab.token}/fit", json.dumps({"state": CASES}).encode(), headers)[0] == 200


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_cannot_ask(lab, kind):
    """Forms of other sites can send these without the browser's permission, but no JSON."""
    body = json.dumps({"state": CASES}).encode()
    assert send(lab, "POST", f"/{lab.token}/fit", body, {"Content-Type": kind})[0] == 415


@pytest.mark.parametrize(
    "path",
    ["../server.py", "..%2fserver.py", "%2e%2e/server.py", "%2e%2e%2fserver.py", "page/lab.js", "..", ".", "/etc/passwd",
     "//etc/passwd", "%2fetc%2fpasswd", "lab.js/../../server.py", "..\\server.py", "..%5cserver.py", "lab.js%00", "LAB.JS",
     "server.py", "__init__.py", "....//server.py", "file:///etc/passwd", "lab.js/", "index.html/.."],
)  # fmt: skip
def test_no_other_file_can_be_read(lab, path):
    status, _, content = send(lab, "GET", f"/{lab.token}/{path}")
    assert status == 404
    assert b"import" not in content
    assert b"root:" not in content


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_other_methods_are_refused(lab, method):
    for name in ("", "fit"):
        assert send(lab, method, f"/{lab.token}/{name}")[0] in (400, 403, 404, 405)


def test_a_huge_body_is_refused_before_it_is_read(lab):
    begin = time.perf_counter()
    status, _, _ = send(lab, "POST", f"/{lab.token}/fit", b" " * (50 * MOST_BYTES))
    assert status in (0, 413)
    assert time.perf_counter() - begin < 5
    largest = {"points": [[-4.999, -4.999, 1]] * 500}
    assert len(json.dumps({"state": largest})) < MOST_BYTES  # what may be asked has room


def test_a_huge_body_in_pieces_is_refused(lab):
    with socket.create_connection(("127.0.0.1", lab.port), timeout=10) as connection:
        head = f"POST /{lab.token}/fit HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\nContent-Type: application/json\r\n"
        connection.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
        piece = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
        try:
            for _ in range(100):
                connection.sendall(piece)
            answer = connection.recv(100)
        except ConnectionError:
            answer = b"closed"
    assert b" 413 " in answer or answer in (b"closed", b"")


def test_huge_headers_are_refused(lab):
    assert send(lab, "GET", f"/{lab.token}/", headers={"X": "x" * 200_000})[0] in (0, 400, 431)


MALFORMED = {
    "nothing": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "a number": b"3",
    "NaN": b'{"state": {"points": [[NaN, 0, 0]]}}',
    "infinity": b'{"state": {"points": [[0, -Infinity, 0]]}}',
    "1e999": b'{"state": {"points": [[1e999, 0, 0]]}}',
    "a huge integer": b'{"state": {"points": [[' + b"9" * 4000 + b", 0, 0]]}}",
    "a longer integer": b'{"state": {"points": [[' + b"9" * 20000 + b", 0, 0]]}}",
    "nesting": b"[" * 50_000,
    "nested points": b'{"state": {"points": ' + b"[" * 40_000 + b"]" * 40_000 + b"}}",
    "no text": b"\xff\xfe\x00",
    "surrogates": b'{"state": "\\ud800"}',
    "unknown": b'{"state": {"points": []}, "exec": "import os"}',
    "no state": b'{"point": 0}',
    "wrong types": b'{"state": {"points": "A"}}',
    "true for a number": b'{"state": {"points": [[true, 0, 0]]}}',
    "a text for a number": b'{"state": {"points": [["0", 0, 0]]}}',
    "a class": b'{"state": {"points": [[0, 0, "__import__"]]}}',
    "too many points": json.dumps({"state": {"points": [[0, 0, 0]] * 501}}).encode(),
    "too large a C": b'{"state": {"points": [[0, 0, 0]], "value": 1e300}}',
    "a kernel": b'{"state": {"points": [[0, 0, 0]], "kernel": "lambda: 0"}}',
    "a comparison": b'{"state": {"points": [[0, 0, 0]]}, "comparison": {"point": 7, "place": null}}',
    "a place": b'{"state": {"points": [[0, 0, 0]]}, "comparison": {"point": 0, "place": [1e9, 0]}}',
    "a point": b'{"state": {"points": [[0, 0, 0]]}, "point": -1}',
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_malformed_question_is_refused_in_a_sentence(lab, name, body):
    status, _, content = send(lab, "POST", f"/{lab.token}/{name}", body)
    assert status == 400
    sentence = json.loads(content)["error"]
    assert sentence.endswith(".")
    assert len(sentence) < 300
    assert "Traceback" not in sentence


def test_a_question_that_never_comes_does_not_stop_the_others(lab, monkeypatch):
    monkeypatch.setattr("maxmargin.lab.server.SECONDS_TO_SEND", 0.3)
    with socket.create_connection(("127.0.0.1", lab.port), timeout=10) as slow:
        head = f"POST /{lab.token}/fit HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\nContent-Type: application/json\r\n"
        slow.sendall((head + "Content-Length: 1000\r\n\r\n{").encode())
        assert ask(lab, "fit", state=CASES)[0] == 200
        assert b" 408 " in slow.recv(100)


SLOW = {
    "a hard margin": {"estimator": "hard", "kernel": "rbf", "gamma": 0.02},
    "a wild polynomial": {"kernel": "poly", "degree": 10, "gamma": 1e9, "value": 1e9, "coef0": 100},
    "no λ": {"estimator": "pegasos", "spelling": "pegasos", "value": 1e-9},
    "a sharp γ": {"kernel": "rbf", "gamma": 1e9, "value": 1e9},
    "a flat γ": {"estimator": "squared", "kernel": "rbf", "gamma": 1e-9, "value": 1e-9},
    "an indefinite kernel": {"kernel": "sigmoid", "gamma": 1e3, "coef0": -100, "value": 1e9},
    "a ramp": {"estimator": "ramp", "kernel": "rbf", "gamma": 100, "value": 1e6},
    "a perceptron": {"estimator": "perceptron", "kernel": "poly", "degree": 10, "gamma": 1e9},
}


@pytest.mark.parametrize("given", SLOW.values(), ids=SLOW)
def test_hard_problems_end_within_their_budget(lab, given):
    many = [[round(5 * ((7 * k * k) % 101) / 101, 3), round(-5 * ((11 * k) % 97) / 97, 3), k % 2] for k in range(200)]
    begin = time.perf_counter()
    status, shown = ask(lab, "fit", state={"points": many, **given})
    assert status == 200
    assert "samples" in shown or "error" in shown
    assert time.perf_counter() - begin < 30  # 1 s a fit, on a machine that does other things


def test_a_new_question_ends_the_patient_one_before_it(lab):
    many = [[k % 20 / 2 - 5, k // 20 / 2 - 4, (k * k // 7) % 2] for k in range(300)]
    slow = {"points": many, "kernel": "sigmoid", "gamma": 0.3}
    found = {}
    waiting = threading.Thread(target=lambda: found.update(ask(lab, "left_out", state=slow)[1]))
    waiting.start()
    time.sleep(0.1)
    while waiting.is_alive():
        ask(lab, "fit", state=CASES)
        time.sleep(0.02)
    assert any(one["how"] == "INTERRUPTED" for one in found["verdicts"])


def test_many_at_a_time_are_all_answered(lab):
    found = []
    threads = [threading.Thread(target=lambda: found.append(ask(lab, "fit", state=CASES))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [status for status, _ in found] == [200] * 12
    assert len({json.dumps(shown["outlines"]) for _, shown in found}) == 1


def test_what_it_answers_is_the_library_s(lab):
    state = State.of(CASES)
    model = SVC(kernel="linear", C=1.0, tol=1e-6, max_seconds=1.0).fit(state.places, state.labels)
    shown = ask(lab, "fit", state=CASES)[1]
    assert shown["hyperplane"]["w"] == pytest.approx(model.coef_[0].tolist(), abs=1e-7)
    assert ask(lab, "outside", state=CASES, point=0)[1]["place"]
    assert "point must be named" in ask(lab, "outside", state=CASES)[1]["error"]
    assert "perceptron" in ask(lab, "steps", state=CASES)[1]["error"]
    assert ask(lab, "closing", state=CASES)[1]["points"]


def test_the_files_of_the_page_ask_nobody_else():
    for name, content in assets().items():
        text = content.decode()
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text
        assert "eval(" not in text
        assert "innerHTML" not in text
        assert "new Function" not in text
        if name.endswith(".html"):
            assert "style=" not in text
            assert " on" not in text.replace(" one", "").split("<body>")[0]
