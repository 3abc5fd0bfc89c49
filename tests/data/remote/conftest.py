"""A loopback server that speaks the parts of OpenML's and UCI's interfaces that are used, and misbehaves on request.

The answers are made by us in the documented shapes; no recorded data.
"""

import hashlib
import json
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from mfbench.data import download

ARFF = """% made up
@relation plants
@attribute id numeric
@attribute width real
@attribute 'leaf colour' {green, red, 'dark red'}
@attribute code {0,1}
@attribute note string
@attribute class {rose, lily}
@data
1, 1.5, green, 0, 'first of all', rose
2, ?, red, 1, 'it\\'s', rose
3, 2.5, 'dark red', 1, third, lily
4, 3.5, ?, 0, fourth, lily
"""
KINDS = {"id": "numeric", "width": "numeric", "leaf colour": "nominal", "code": "nominal", "note": "string"}

CSV = "ID,age,sex,stage,when,grade\n1,50,0,a,2001-01-01,2\n2,,1,b,2001-01-02,1\n3,61,0,?,2001-01-03,1\n"
VARIABLES = [
    {"name": "ID", "role": "ID", "type": "Integer", "missing_values": "no"},
    {"name": "age", "role": "Feature", "type": "Integer", "missing_values": "yes"},
    {"name": "sex", "role": "Feature", "type": "Binary", "missing_values": "no"},
    {"name": "stage", "role": "Feature", "type": "Categorical", "missing_values": "yes"},
    {"name": "when", "role": "Other", "type": "Date", "missing_values": "no"},
    {"name": "grade", "role": "Target", "type": "Integer", "missing_values": "no"},
]


class Handler(BaseHTTPRequestHandler):
    """Answers from `server.pages`; a path's faults come first, one per request, the last of them for ever."""

    def do_GET(self):
        site = self.server.site
        site.asked.append(self.path)
        queue = site.faults[self.path]
        fault = queue[0] if len(queue) == 1 else queue.pop(0) if queue else None
        status, body = site.pages.get(self.path, (404, b"nothing here"))
        try:
            (fault or Faults.none)(self, status, body)
        except (BrokenPipeError, ConnectionResetError):
            site.hung_up.set()

    def answer(self, status, body, length=None, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if length != "none":
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Faults:
    """Ways to misbehave; each takes the handler and the right answer."""

    @staticmethod
    def none(handler, status, body):
        handler.answer(status, body)

    @staticmethod
    def status(code, **headers):
        return lambda handler, status, body: handler.answer(code, b"<html>sorry</html>", **headers)

    @staticmethod
    def complaint(code, message):
        text = json.dumps({"error": {"code": str(code), "message": message}}).encode()
        return lambda handler, status, body: handler.answer(412, text)

    @staticmethod
    def truncated(handler, status, body):
        handler.answer(status, body[: len(body) // 2], length=len(body))

    @staticmethod
    def altered(handler, status, body):
        handler.answer(status, body.replace(b"1", b"7"))

    @staticmethod
    def garbage(handler, status, body):
        handler.answer(200, b"<html>under repair</html>")

    @staticmethod
    def silent(handler, status, body):
        handler.server.site.closing.wait(5)

    @staticmethod
    def stalled(handler, status, body):
        handler.answer(status, body[: len(body) // 2], length=len(body))
        handler.server.site.closing.wait(5)

    @staticmethod
    def drip(handler, status, body):
        handler.answer(status, b"", length=1000)
        while not handler.server.site.closing.wait(0.02):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    @staticmethod
    def loop(handler, status, body):
        handler.answer(302, b"", Location=handler.path)

    @staticmethod
    def elsewhere(location):
        return lambda handler, status, body: handler.answer(301, b"", Location=location)

    @staticmethod
    def endless(handler, status, body):
        handler.answer(status, b"", length="none")
        while not handler.server.site.closing.is_set():
            handler.wfile.write(bytes(1 << 16))
            handler.server.site.sent += 1 << 16

    @staticmethod
    def gigabytes(handler, status, body):
        handler.answer(status, b"", length=5_000_000_000)

    @staticmethod
    def hang_up(handler, status, body):
        handler.close_connection = True


class Site:
    """What the server serves; tests add pages and faults by path."""

    def __init__(self, address):
        self.url = f"http://127.0.0.1:{address[1]}"
        self.pages = {}
        self.faults = defaultdict(list)
        self.asked = []
        self.closing, self.hung_up = threading.Event(), threading.Event()
        self.sent = 0

    def forget(self):
        """Forget what was asked, and behave."""
        self.asked.clear()
        self.faults.clear()

    def page(self, path, content):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.pages[path] = (200, body)
        return self.url + path

    def openml(self, number=61, name="plants", arff=ARFF, flags=None, **fields):
        """Add a dataset of OpenML: description, columns, table."""
        table = arff if isinstance(arff, bytes) else arff.encode()
        description = {
            "id": str(number),
            "name": name,
            "version": "1",
            "format": "ARFF",
            "licence": "Public",
            "citation": [],
            "url": self.page(f"/data/v1/download/{number}/plants.arff", table),
            "default_target_attribute": "class",
            "row_id_attribute": "id",
            "ignore_attribute": ["note"],
            "md5_checksum": hashlib.md5(table).hexdigest(),
            **fields,
        }
        self.page(f"/api/v1/json/data/{number}", {"data_set_description": description})
        flags = {**{kind: {} for kind in KINDS}, "class": {}} if flags is None else flags
        columns = [
            {
                "index": str(i),
                "name": column,
                "data_type": KINDS.get(column, "nominal"),
                "is_target": "false",
                "is_ignore": "false",
                "is_row_identifier": "false",
                **extra,
            }
            for i, (column, extra) in enumerate(flags.items())
        ]
        self.page(f"/api/v1/json/data/features/{number}", {"data_features": {"feature": columns}})

    def uci(self, number=53, csv=CSV, **fields):
        """Add a dataset of UCI: description, table."""
        described = {
            "uci_id": number,
            "name": "Illness",
            "data_url": self.page(f"/static/public/{number}/data.csv", csv.encode()),
            "variables": VARIABLES,
            "has_missing_values": "yes",
            "creators": ["A. Doe", "B. Roe"],
            "year_of_dataset_creation": 1999,
            "dataset_doi": "10.24432/XYZ",
            "intro_paper": {"title": "On illness", "authors": "A. Doe", "venue": "Journal", "year": 1998},
            **fields,
        }
        self.page(f"/api/dataset?id={number}", {"status": 200, "statusText": "OK", "data": described})


@pytest.fixture
def site(monkeypatch):
    """A fresh server on a free port of the loopback interface, which the sources are pointed to."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    server.site = site = Site(server.server_address)
    site.server = server
    monkeypatch.setenv("MFBENCH_OPENML_URL", site.url)
    monkeypatch.setenv("MFBENCH_UCI_URL", site.url + "/")
    monkeypatch.setenv("NO_PROXY", "*")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield site
    site.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def no_folders_at_home(openml_home):
    """Every client may import openml."""


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """An empty folder in the place of the system's temporary one."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def limits(monkeypatch):
    """Return a function that sets limits of downloads."""

    def set_limits(**values):
        for name, value in values.items():
            monkeypatch.setattr(download, name, value)

    return set_limits


@pytest.fixture
def quick(limits):
    """Limits with which faults are over soon; a function that shortens them where a fault is waited out."""

    def be_quick(fault=""):
        limits(LIMIT_BYTES=1 << 20, TIMEOUT=5, DEADLINE=20, RETRIES=2, PAUSE=0.01)
        limits(**{"silent": {"TIMEOUT": 0.2}, "stalled": {"TIMEOUT": 0.2}, "drip": {"DEADLINE": 0.7}}.get(fault, {}))

    be_quick()
    return be_quick


@pytest.fixture
def faults():
    return Faults


@pytest.fixture
def tables():
    return SimpleNamespace(arff=ARFF, csv=CSV, variables=VARIABLES)
