"""``mfbench watch``: a server for the own browser, which reads the store of a run and writes nothing."""

from __future__ import annotations

import sys
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Annotated

import typer

from mfbench.cli.options import DEFAULT_OUT, Out
from mfbench.errors import MfbenchError, UsageError
from mfbench.report.render.html.page import asset, policy
from mfbench_watch.state import Watched

ADDRESS = "127.0.0.1"


def watch(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, a folder of runs, or the name of a suite.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0: a free one.")] = 0,
    opens: Annotated[bool, typer.Option("--open", help="Show the page in a browser.")] = False,
    out: Out = DEFAULT_OUT,
) -> None:
    """Show a run under way in a browser, until Ctrl-C.

    The page is served to this machine alone. It shows what has ended, what leads and the time that is left.
    """
    from mfbench.api.request import find_run

    found_run = find_run(run, out)
    if found_run.bundle is not None:
        raise UsageError(f"{run}: a bundle does not change; show its page with 'mfbench report {run} --open'")
    with make_server(Watched(found_run.path), port) as server:
        address = f"http://{ADDRESS}:{server.server_port}/"
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        if opens:
            import webbrowser

            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


def make_server(watched: Watched, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a run's page, not yet serving."""
    try:
        server = ThreadingHTTPServer((ADDRESS, port), partial(_Handler, watched))
    except OSError as error:
        raise MfbenchError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from error
    server.daemon_threads = True
    return server


class _Handler(BaseHTTPRequestHandler):
    """Answers two addresses: the page, and the state of the run."""

    server_version, sys_version = "mfbench", ""

    def __init__(self, watched: Watched, *arguments: object) -> None:
        self.watched = watched
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer a request that names this machine as its host."""
        _, port = self.connection.getsockname()
        if self.headers.get("Host") not in (f"{ADDRESS}:{port}", f"localhost:{port}"):
            # Another site that has its name resolved to this machine must not read the state.
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
        elif self.path == "/":
            self._answer(_page(), "text/html")
        elif self.path == "/state":
            try:
                self._answer(self.watched.as_json(), "application/json")
            except (MfbenchError, OSError) as error:
                self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, explain=str(error))
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _answer(self, text: str, kind: str) -> None:
        content = text.encode()
        self.send_response(HTTPStatus.OK)
        own = f"{policy((_script(),))}; connect-src 'self'; frame-ancestors 'none'"
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(content))),
            ("Content-Security-Policy", own),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing: a browser asks every two seconds."""


def _script() -> str:
    return resources.files(__package__).joinpath("page.js").read_text(encoding="utf-8")


def _page() -> str:
    page = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return page.replace("{{ style }}", asset("style.css")).replace("{{ script }}", _script())
