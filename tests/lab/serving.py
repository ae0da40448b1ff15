"""A lab that runs beside the tests, and questions put to it byte by byte."""

import json
import threading
from contextlib import contextmanager, suppress
from http.client import HTTPConnection

from maxmargin.lab import Lab


@contextmanager
def running():
    """A lab on a free port."""
    lab = Lab()
    thread = threading.Thread(target=lab.run, daemon=True)
    thread.start()
    try:
        yield lab
    finally:
        lab.stop()
        thread.join(10)
        assert not thread.is_alive()


def send(lab, method, path, body=None, headers=()):
    """(status, headers, content) of a request as it stands; `path` is the whole path. Headers given replace the usual ones."""
    connection = HTTPConnection("127.0.0.1", lab.port, timeout=30)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        usual = {"Host": f"127.0.0.1:{lab.port}"}
        if body is not None:
            usual |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in {**usual, **dict(headers)}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        if body is not None:
            with suppress(OSError):  # it was refused before it was all there
                connection.send(body)
        try:
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except ConnectionError:
            return 0, {}, b""  # the line was cut
    finally:
        connection.close()


def ask(lab, name, **question):
    """(status, object) of a question in its usual form."""
    status, _, content = send(lab, "POST", f"/{lab.token}/{name}", json.dumps(question).encode())
    return status, json.loads(content)
