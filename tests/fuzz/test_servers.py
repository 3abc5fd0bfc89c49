"""Servers that send damaged answers: a download ends, with the bytes or with an error of one sentence."""

import json
import random
import socketserver
import threading
from contextlib import suppress

import pytest

from mfbench.data import download
from mfbench.data.download import fetch_file
from mfbench.data.repositories import load_openml, load_uci
from mfbench.errors import MfbenchError

pytestmark = pytest.mark.usefixtures("openml_home")

BODY = b"a,class\n1,x\n2,y\n"
LIMITS = {"LIMIT_BYTES": 1 << 16, "TIMEOUT": 0.2, "DEADLINE": 0.5, "RETRIES": 1, "PAUSE": 0.01, "LONGEST_PAUSE": 0.1}
STATUS_LINES = [
    *(b"HTTP/1.1 200 OK", b"HTTP/1.1 200", b"HTTP/1.0 200 OK", b"HTTP/1.1 206 Part", b"HTTP/1.1 204 None"),
    *(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK", b"HTTP/1.1 302 Moved", b"HTTP/1.1 304 Same", b"HTTP/1.1 404 No"),
    *(b"HTTP/1.1 500 Oh", b"HTTP/1.1 999 Odd", b"HTTP/1.1 -1 Odd", b"HTTP/9.9 200 OK", b"HTTP/1.1", b"220 ftp", b""),
    *(b"HTTP/1.1 200 " + b"x" * 70_000, b"HTTP/1.1 200 \x1b[31m\xff\0", b"HTTP/1.1 429 Wait", b"HTTP/1.1 101 Switch"),
]
HEADERS = [
    *(
        b"Content-Length: 16",
        b"Content-Length: 0",
        b"Content-Length: 17",
        b"Content-Length: -5",
        b"Content-Length: 9e9",
    ),
    *(
        b"Content-Length: " + b"9" * 5000,
        b"Content-Length: 16, 16",
        b"Transfer-Encoding: chunked",
        b"Connection: close",
    ),
    *(b"Transfer-Encoding: gzip, chunked", b"Content-Encoding: gzip", b"Content-Encoding: deflate, gzip, br, zstd, x"),
    *(b"Location: /again", b"Location: //", b"Location: http://[", b"Location: file:///etc/passwd", b"Location: \xff"),
    *(
        b"Retry-After: 0",
        b"Retry-After: -1",
        b"Retry-After: Wed",
        b"Set-Cookie: a=b; Max-Age=9e99",
        b"no colon",
        b": v",
    ),
    *(b"X: " + b"y" * 70_000, b"X: y\r\n" * 200, b" folded", b"X: \0\x1b[2J", b"Content-Type: text/html; charset=\xff"),
]
BODIES = [
    *(
        BODY,
        b"",
        BODY[:7],
        BODY * 10_000,
        b"\x1f\x8b\x08" + b"\0" * 20,
        b"10\r\n" + BODY + b"\r\n0\r\n\r\n",
        b"0\r\n\r\n",
    ),
    *(b"10;" + b"x" * 70_000 + b"\r\n" + BODY, b"-1\r\nx\r\n", b"ffffffffffffffffff\r\nx", b"g\r\n", b"10\r\n" + BODY),
    *(b"10\r\n" + BODY + b"\r\n0\r\n" + b"X: y\r\n" * 60_000, b"1\r\nx\r\n" * 999 + b"0\r\n\r\n", b"\r\n" * 70_000),
]


class Handler(socketserver.BaseRequestHandler):
    """Reads a request and sends what the test says."""

    def handle(self):
        request = b""
        with suppress(OSError):  # the download has ended in the meantime
            while b"\r\n\r\n" not in request:
                request += self.request.recv(1 << 16) or b"\r\n\r\n"
            self.request.sendall(self.server.answer(request.split(b" ")[1].decode()))


@pytest.fixture
def server(monkeypatch):
    """A server on the loopback interface; `answer` takes a path and returns bytes."""
    monkeypatch.setenv("NO_PROXY", "*")
    for name, value in LIMITS.items():
        monkeypatch.setattr(download, name, value)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler, bind_and_activate=True) as served:
        served.daemon_threads, served.block_on_close = True, False
        served.url = f"http://127.0.0.1:{served.server_address[1]}"
        for variable in ("MFBENCH_OPENML_URL", "MFBENCH_UCI_URL"):
            monkeypatch.setenv(variable, served.url)
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def script(rng):
    """Return an answer: made of the parts of a sound one, and cut or changed."""
    lines = [rng.choice(STATUS_LINES[:3] if rng.random() < 0.5 else STATUS_LINES)]
    lines += rng.choices(HEADERS, k=rng.choice((0, 1, 1, 2, 3)))
    data = bytearray(b"\r\n".join([*lines, b"", rng.choice(BODIES)]))
    if rng.random() < 0.3 and data:
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.2:
        data = data[: rng.randrange(len(data) + 1)]
    return bytes(data)


def check(call):
    """Call a function that downloads: it returns, or raises one sentence without traces of Python."""
    try:
        call()
    except MfbenchError as error:
        text = str(error)
        assert text.isprintable() and "Traceback" not in text and "object at 0x" not in text, text


def download_many(server, tmp_path, seeds):
    for seed in seeds:
        rng = random.Random(f"answers {seed}")
        answers = [script(rng) for _ in range(4)]
        server.answer = lambda path, answers=answers: answers.pop() if len(answers) > 1 else answers[0]
        check(lambda: fetch_file(server.url + "/file", tmp_path / "table", what="the table"))


def test_any_answer(server, tmp_path):
    download_many(server, tmp_path, range(40))


@pytest.mark.nightly(reason="thousands of answers")
def test_many_answers(server, tmp_path):
    download_many(server, tmp_path, range(40, 2000))


VALUES = [
    None,
    True,
    -1,
    0,
    1e400,
    10**30,
    "",
    "a",
    "a,class",
    "\0\x1b[2J\ud800",
    "/",
    "file:///etc/passwd",
    [],
    {},
    [[]],
    [{}],
]
VALUES += [["a", "class"], {"a": 1}, "x" * 10_000, [None] * 3]


def changed(value, rng):
    """Return a JSON value with a part that is replaced, left out or repeated."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice(VALUES)
    if isinstance(value, list):
        position = rng.randrange(len(value))
        parts = rng.choice(([], [changed(value[position], rng)], [value[position]] * 2))
        return [*value[:position], *parts, *value[position + 1 :]]
    key = rng.choice(list(value))
    rest = {name: item for name, item in value.items() if name != key}
    return rng.choice((rest, {**value, key: changed(value[key], rng)}, {**value, key: changed(value[key], rng)}))


def pages_of(url):
    """Return the sound answers of both repositories by their paths."""
    arff = "@relation r\n@attribute a real\n@attribute class {x,y}\n@data\n1,x\n2,y\n"
    variables = [
        {"name": name, "role": role, "type": "Integer"} for name, role in (("a", "Feature"), ("class", "Target"))
    ]
    plants = {"id": "61", "name": "plants", "version": "1", "format": "ARFF", "url": f"{url}/arff"}
    plants |= {"licence": "Public", "default_target_attribute": "class", "row_id_attribute": [], "citation": []}
    columns = [{"index": "0", "name": name, "data_type": "numeric", "is_target": "false"} for name in ("a", "class")]
    return {
        "/api/dataset?id=53": {
            "status": 200,
            "data": {"data_url": f"{url}/csv", "variables": variables, "name": "Ill"},
        },
        "/api/v1/json/data/61": {"data_set_description": plants},
        "/api/v1/json/data/features/61": {"data_features": {"feature": columns}},
        "/csv": BODY.decode(),
        "/arff": arff,
    }


def answers_of(pages):
    def answer(path):
        page = pages.get(path)
        body = (page if isinstance(page, str) else json.dumps(page)).encode("utf-8", "replace")
        status = b"404 None" if page is None else b"200 OK"
        return b"HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body

    return answer


def describe_many(server, seeds):
    for seed in seeds:
        rng = random.Random(f"descriptions {seed}")
        pages = pages_of(server.url)
        for path in rng.sample(list(pages), rng.choice((1, 1, 2))):
            if not isinstance(pages[path], str):
                pages[path] = changed(pages[path], rng)
        server.answer = answers_of(pages)
        for load, number in ((load_uci, 53), (load_openml, 61)):
            check(lambda load=load, number=number: load(number))


def test_sound_descriptions(server):
    server.answer = answers_of(pages_of(server.url))
    for load, number in ((load_uci, 53), (load_openml, 61)):
        assert load(number)[0].n_samples == 2


def test_any_description(server):
    describe_many(server, range(40))


@pytest.mark.nightly(reason="hundreds of descriptions, some of which lead to servers that do not answer")
def test_many_descriptions(server):
    describe_many(server, range(40, 1500))
