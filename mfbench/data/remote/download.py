"""Downloading one file over HTTP, completely or not at all: retries, limits, checksums, atomic writes.

The clients of the repositories are built on it. Whatever a server does, a call returns the right bytes or raises an
error of one sentence; nothing that comes from a server is used as a path or executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol
from urllib.parse import urljoin, urlsplit

from mfbench.base.untrusted import plain_text
from mfbench.data.remote.answers import shown
from mfbench.errors import DataError, DataUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    import requests

    from mfbench.data.remote.bounded import Connections

_BLOCK = 1 << 16
_JSON_LIMIT = 1 << 26
_LONGEST_PAUSE = 60.0
_AGAIN = "check the network and try again, or use a mirror (--data-dir)"
_BY_HAND = "download it yourself and name the file as 'file:PATH', or use a mirror (--data-dir)"


class Progress(Protocol):
    """Called while a body arrives, first with 0; a retry starts at 0 again."""

    def __call__(self, done: int, total: int | None) -> None:
        """Take the number of bytes so far and, if the server announces it, that of the whole body."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The limits of a download."""

    limit_bytes: int = 1 << 30  # A longer body is refused as soon as its length is known
    timeout: float = 30.0  # seconds to wait for a connection, and for each further byte
    # Seconds for the whole download from the look-up of the server's name to the last byte, including retries and
    # pauses, whatever the server sends and however slowly.
    deadline: float = 1800.0
    # Further attempts after a temporary failure: no connection, no answer, HTTP 408, 429 and 5xx, a truncated body.
    # After a wrong checksum there is one further attempt.
    retries: int = 4
    # Seconds before the first retry, doubled before each further one, varied randomly by up to a half so that clients
    # that failed together do not return together. A longer `Retry-After` is respected, up to a minute.
    pause: float = 1.0
    redirects: int = 5  # maximum number of redirects


@dataclass(frozen=True)
class Received:
    """A downloaded body: its length in bytes, and its hashes as hexadecimal digits."""

    size: int
    sha256: str
    md5: str


class RefusedError(DataError):
    """The server refused, with an HTTP status and the beginning of a body; a retry would not help."""

    def __init__(self, message: str, status: int, body: str) -> None:
        super().__init__(message)
        self.status, self.body = status, body


class _PassingError(Exception):
    """A temporary failure; `wait` is the pause that the server requested, in seconds."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


class _ChecksumError(_PassingError):
    """The body does not have the expected checksum."""


def fetch(
    url: str,
    *,
    what: str = "the file",
    policy: Policy | None = None,
    sha256: str | None = None,
    md5: str | None = None,
    progress: Progress | None = None,
) -> bytes:
    """Return the body behind a URL."""
    buffer = io.BytesIO()
    _Transfer(url, what, policy, sha256, md5, progress).run(buffer)
    return buffer.getvalue()


def fetch_file(
    url: str,
    path: Path,
    *,
    what: str = "the file",
    policy: Policy | None = None,
    sha256: str | None = None,
    md5: str | None = None,
    progress: Progress | None = None,
) -> Received:
    """Download to a file, which appears only when it is complete and verified."""
    # The bytes are written to a hidden file next to it, which is renamed at the end, and removed after a failure.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as handle:
            received = _Transfer(url, what, policy, sha256, md5, progress).run(handle)
            os.fsync(handle.fileno())
        part.replace(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataError(
            f"{what} cannot be written to {path}: {reason}; free some space or choose another folder"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()
    return received


def fetch_json(url: str, *, what: str, policy: Policy | None = None) -> Any:
    """Return the JSON behind a URL; parameters and errors as for `fetch`. More than 64 MiB are refused."""
    policy = policy or Policy()
    policy = replace(policy, limit_bytes=min(policy.limit_bytes, _JSON_LIMIT))
    try:
        return json.loads(fetch(url, what=what, policy=policy))
    except (ValueError, RecursionError) as error:
        reason = f"{what} at {shown(url)} is not JSON"
        raise DataError(f"{reason}: the server may be under repair, or the address wrong; try again later") from error


class _Transfer:
    """One call of `fetch` or `fetch_file`."""

    def __init__(
        self, url: str, what: str, policy: Policy | None, sha256: str | None, md5: str | None, progress: Progress | None
    ) -> None:
        self.url, self.what, self.progress = url, what, progress
        self.policy = policy or Policy()
        self.expected = {"sha256": sha256, "md5": md5}
        self.end = time.monotonic() + self.policy.deadline

    def run(self, sink: BinaryIO) -> Received:
        """Fill the sink before the deadline."""
        from mfbench.data.remote.bounded import Connections, call_within

        connections = Connections()
        try:
            return call_within(self.policy.deadline, lambda: self._fill(sink, connections), connections)
        except TimeoutError as error:
            reason = f"{self.what} at {shown(self.url)} did not arrive within {self.policy.deadline:g} s"
            raise _unavailable(reason, f"try again later, or {_BY_HAND}") from error

    def _fill(self, sink: BinaryIO, connections: Connections) -> Received:
        """Fill the sink, in as many attempts as the policy allows."""
        wrong = 0
        with _session(connections) as session:
            for attempt in range(1, self.policy.retries + 2):
                sink.seek(0)
                sink.truncate()
                try:
                    return self._attempt(session, sink)
                except _PassingError as error:
                    failure = error
                wrong += isinstance(failure, _ChecksumError)
                pause = self.policy.pause * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)
                pause = min(max(pause, failure.wait), _LONGEST_PAUSE)
                if attempt > self.policy.retries or wrong > 1 or time.monotonic() + pause > self.end:
                    break
                time.sleep(pause)
        tried = f" ({attempt} attempts)" if attempt > 1 else ""
        where = f"{self.what} at {shown(self.url)}"
        if isinstance(failure, _ChecksumError):
            reason = f"{where} has {failure}{tried}: it is damaged or was changed on the server"
            raise DataError(f"{reason}; try again later, or use a mirror (--data-dir)") from failure
        raise _unavailable(f"cannot fetch {where}: {failure}{tried}", _AGAIN) from failure

    def _attempt(self, session: requests.Session, sink: BinaryIO) -> Received:
        """Fill the sink once, or raise `_PassingError` if another attempt may succeed."""
        import requests
        import urllib3

        from mfbench.data.remote.bounded import HeadersTooLongError

        hashes = {"sha256": hashlib.sha256(), "md5": hashlib.md5(usedforsecurity=False)}
        size = 0
        try:
            with closing(self._open(session)) as response:
                for block in self._blocks(response):
                    sink.write(block)
                    size += len(block)
                    for algorithm in hashes.values():
                        algorithm.update(block)
        except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise _PassingError(f"no answer within {self.policy.timeout:g} s") from error
        except HeadersTooLongError as error:
            reason = f"{self.what} at {shown(self.url)} cannot be fetched: {error}"
            raise DataError(f"{reason}; try again later, or {_BY_HAND}") from error
        except requests.exceptions.SSLError as error:
            reason = f"the certificate of {shown(self.url)} cannot be verified"
            raise _unavailable(reason, _AGAIN) from error
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
            raise DataError(f"{shown(self.url)} is not a web address: correct it") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise _PassingError(_reason(error)) from error
        actual = {name: algorithm.hexdigest() for name, algorithm in hashes.items()}
        for name, want in self.expected.items():
            if want and want.strip().lower() != actual[name]:
                raise _ChecksumError(f"the {name.upper()} {actual[name]}, expected {plain_text(want.lower(), 64)}")
        return Received(size, actual["sha256"], actual["md5"])

    def _open(self, session: requests.Session) -> requests.Response:
        """Follow redirects to a response of status 200, and return it with its body unread."""
        address = _address(self.url)
        for _ in range(self.policy.redirects + 1):
            wait = max(0.01, min(self.policy.timeout, self.end - time.monotonic()))
            response = session.get(address, stream=True, timeout=wait)
            if response.status_code == 200:
                return response
            with closing(response):
                if not response.is_redirect:
                    raise self._refusal(response)
            address = _address(address, response.headers["location"])
        reason = f"{shown(self.url)} redirects more than {self.policy.redirects} times: the server is misconfigured"
        raise DataError(f"{reason}; try again later, or use a mirror (--data-dir)")

    def _refusal(self, response: requests.Response) -> Exception:
        """Return the error for a status other than 200."""
        status = response.status_code
        answer = f"HTTP {status} {plain_text(response.reason, 40)}".strip()
        if status in (408, 429) or status >= 500:
            after = response.headers.get("Retry-After", "")
            return _PassingError(answer, float(after) if re.fullmatch(r"[0-9]{1,6}", after) else 0.0)
        body = b""
        with suppress(Exception):  # the body may explain the status, but is not needed
            body = response.raw.read1(4096, decode_content=True)
        problem = "does not exist" if status in (404, 410) else "is refused"
        message = f"{self.what} {problem} at {shown(self.url)} ({answer}): check its number or name"
        return RefusedError(message, status, body.decode("utf-8", "replace"))

    def _blocks(self, response: requests.Response) -> Iterator[bytes]:
        """Yield the body as it arrives, within the limits of size and time."""
        length = response.headers.get("Content-Length", "")
        announced = int(length) if re.fullmatch(r"[0-9]{1,18}", length) else None
        # The announced length of a compressed body says when it is complete, not how long it is when decompressed.
        total = None if response.headers.get("Content-Encoding", "identity") != "identity" else announced
        where, done = f"{self.what} at {shown(self.url)}", 0
        while True:
            if max(done, total or 0) > self.policy.limit_bytes:
                limit = f"the limit of {self.policy.limit_bytes / 2**20:,.1f} MiB"
                raise DataError(f"{where} is larger than {limit}: {_BY_HAND}")
            if self.progress is not None:
                self.progress(done, total)
            # read1 returns what has arrived; read and iter_content wait for a full block, however slowly it arrives.
            block = response.raw.read1(_BLOCK, decode_content=True)
            if not block:
                break
            done += len(block)
            yield block
        if announced is not None and response.raw.tell() != announced:
            raise _PassingError(f"the body ends after {response.raw.tell()} of {announced} bytes")


def _unavailable(reason: str, remedy: str) -> DataUnavailableError:
    return DataUnavailableError(reason, remedy, attempt=reason)


def _session(connections: Connections) -> requests.Session:
    import requests

    from mfbench.data.remote.bounded import BoundedAdapter

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            """Follow no redirects: even with allow_redirects=False, requests would read the body, however long."""

    session = Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, BoundedAdapter(connections))
    session.headers.update({"User-Agent": "mfbench", "Accept-Encoding": "identity"})
    return session


def _address(base: str, location: str = "") -> str:
    """Return the address that a redirect leads to, if it is a web address that is as secure as that before it."""
    try:
        address = urljoin(base, location)
        scheme = urlsplit(address).scheme
    except ValueError:
        address, scheme = location or base, ""
    if scheme not in ("http", "https"):
        raise DataError(f"{shown(address)} is not a web address (http or https): it cannot be downloaded")
    if scheme == "http" and urlsplit(base).scheme == "https":
        reason = (
            f"{shown(base)} redirects from https to the unencrypted address {shown(address)}, which is not followed"
        )
        raise DataError(f"{reason}: {_BY_HAND}")
    return address


def _reason(error: Exception) -> str:
    """Return in a few words why a connection failed, from the nested errors of requests and urllib3."""
    match = re.search(r"got more than (\d+ \w+)", str(error))
    if match:
        return f"the server sends more than {match[1]}"
    match = re.search(r"\[Errno -?\d+\] ([\w ]+)", str(error))
    if match:
        return match[1].lower()
    if "IncompleteRead" in str(error) or "ended prematurely" in str(error):
        return "the body ends too early"
    return "the connection broke" if "resolve" not in str(error) else "the server's name cannot be resolved"
