"""Download one file over HTTP, with retries, size and time limits, and checksums.

The repository clients are built on it. Servers may fail, stall, or send damaged or unexpected data; a call either
returns the right bytes or raises a one-sentence error.
"""

import hashlib
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema

from mfbench.base.text import plain_text
from mfbench.errors import DataError, DataUnavailableError, explained


@contextmanager
def answer_of(server: str, what: str) -> Iterator[None]:
    """Turn errors raised while parsing an unexpected response into one sentence."""
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        reason = f"{server}'s answer about {what} does not have the documented form"
        detail = plain_text(f"{type(error).__name__}: {error}", 100)
        raise DataError(f"{reason} ({detail}): try again later, or use a mirror (--data-dir)") from error


def shown(url: str) -> str:
    """Return a URL for display, without user name and password."""
    return plain_text(re.sub(r"^(\w+://)[^/@]*@", r"\1", url), 300)


LIMIT_BYTES = 1 << 30
JSON_LIMIT = 1 << 26
# Timeout in seconds to connect and between bytes, and for the whole download.
TIMEOUT, DEADLINE = 30.0, 1800.0
# Retries on connection failure, no response, or HTTP 408, 429 and 5xx; a damaged body is fetched twice.
RETRIES = 4
# Seconds before the second retry, doubled each time, and the longest Retry-After that is honoured.
PAUSE, LONGEST_PAUSE = 1.0, 60.0

DownloadProgress = Callable[[int, int | None], None]
"""Called as a body arrives with the bytes so far and, if the server states it, the total; a retry restarts at 0."""
_BLOCK = 1 << 16
_AGAIN = "check the network and try again, or use a mirror (--data-dir)"
_BY_HAND = "download it yourself and name the file as 'file:PATH', or use a mirror (--data-dir)"


class RefusedError(DataError):
    """The server refused the request; `body` is the start of its response. Retrying would not help."""

    def __init__(self, message: str, body: str = "") -> None:
        super().__init__(message)
        self.body = body


def fetch_file(url: str, path: Path, *, what: str, md5: str = "", progress: DownloadProgress | None = None) -> str:
    """Download to a file in a temporary folder."""

    def sentence(reason: str) -> str:
        return f"{what} cannot be written to {path}: {reason}; free some space or choose another folder"

    with explained(DataError, sentence, OSError), path.open("wb") as handle:
        return _download(url, handle, what, LIMIT_BYTES, md5, progress)


def fetch_json(url: str, *, what: str) -> Any:
    """Return the JSON behind a URL, up to 64 MiB; errors as for `fetch_file`."""
    body = io.BytesIO()
    _download(url, body, what, min(LIMIT_BYTES, JSON_LIMIT))
    try:
        return json.loads(body.getvalue())
    except (ValueError, RecursionError) as error:
        reason = f"{what} at {shown(url)} is not JSON"
        raise DataError(f"{reason}: the server may be under repair, or the address wrong; try again later") from error


def _download(
    url: str, sink: BinaryIO, what: str, limit: int, md5: str = "", progress: DownloadProgress | None = None
) -> str:
    """Write the body to the sink and return its SHA-256."""
    end, where = time.monotonic() + DEADLINE, f"{what} at {shown(url)}"
    failure: DataError
    with _session() as session:
        for _ in range(2):
            sink.seek(0)
            sink.truncate()
            sha256, actual = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
            try:
                with session.get(url, stream=True, timeout=TIMEOUT) as response:
                    _check_status(response, what, where)
                    for block in _blocks(response, where, limit, end, progress):
                        sink.write(block)
                        sha256.update(block)
                        actual.update(block)
            except (InvalidSchema, InvalidURL, MissingSchema) as error:
                raise DataError(f"{shown(url)} is not a web address (http or https): correct it") from error
            except (requests.RequestException, ValueError) as error:  # ValueError: a redirect to an invalid address
                raise _unavailable(f"cannot fetch {where}: {_reason(error)}", _AGAIN) from error
            except urllib3.exceptions.HTTPError as error:  # while the body arrived
                failure = _unavailable(f"cannot fetch {where}: {_reason(error)} (2 attempts)", _AGAIN)
                continue
            if not md5 or md5.lower() == actual.hexdigest():
                return sha256.hexdigest()
            reason = f"{where} has the MD5 {actual.hexdigest()}, expected {md5.lower()} (2 attempts)"
            remedy = "try again later, or use a mirror (--data-dir)"
            failure = DataError(f"{reason}: it is damaged or was changed on the server; {remedy}")
    raise failure


class _BoundedRetry(urllib3.Retry):
    def parse_retry_after(self, retry_after: str) -> float:
        """Return the pause requested by a Retry-After header, within bounds."""
        try:
            return min(super().parse_retry_after(retry_after), LONGEST_PAUSE)
        except urllib3.exceptions.InvalidHeader:
            return 0.0


def _session() -> requests.Session:
    """Return a session that retries after temporary failures."""
    retries = _BoundedRetry(
        RETRIES,
        other=0,  # permanent failures, for example an invalid certificate
        status_forcelist=[408, 429, *range(500, 600)],
        raise_on_status=False,
        backoff_factor=PAUSE,
        backoff_jitter=PAUSE / 2,
    )
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retries))
    session.headers.update({"User-Agent": "mfbench", "Accept-Encoding": "identity"})
    return session


def _check_status(response: requests.Response, what: str, where: str) -> None:
    """Raise an error for any status other than 200."""
    status = response.status_code
    if status == 200:
        return
    answer = f"HTTP {status} {plain_text(response.reason, 40)}".strip()
    if status in (408, 429) or status >= 500:
        raise _unavailable(f"cannot fetch {where}: {answer} ({RETRIES + 1} attempts)", _AGAIN)
    problem = "does not exist" if status in (404, 410) else "is refused"
    # The body may explain the status.
    body = response.raw.read(4096, decode_content=True).decode("utf-8", "replace")
    raise RefusedError(f"{what} {problem} at {shown(response.url)} ({answer}): check its number or name", body)


def _blocks(
    response: requests.Response, where: str, limit: int, end: float, progress: DownloadProgress | None
) -> Iterator[bytes]:
    """Yield the body as it arrives, within the limits of size and time."""
    length = response.headers.get("Content-Length", "")
    # Content-Length counts compressed bytes, so it says nothing about the decompressed size.
    is_compressed = response.headers.get("Content-Encoding", "identity") != "identity"
    total, done = int(length) if re.fullmatch("[0-9]{1,18}", length) and not is_compressed else None, 0
    while True:
        if max(done, total or 0) > limit:
            raise DataError(f"{where} is larger than the limit of {limit / 2**20:,.1f} MiB: {_BY_HAND}")
        if time.monotonic() > end:
            raise _unavailable(f"{where} did not arrive within {DEADLINE:g} s", f"try again later, or {_BY_HAND}")
        if progress is not None:
            progress(done, total)
        # read1 returns what has arrived; read and iter_content would wait for a full block, however slow the server.
        block = response.raw.read1(_BLOCK, decode_content=True)
        if not block:
            return
        done += len(block)
        yield block


def _unavailable(reason: str, remedy: str) -> DataUnavailableError:
    return DataUnavailableError(reason, remedy, attempt=reason)


# Fragments of nested requests, urllib3 and Python messages, and their meanings.
_REASONS = {
    "timed out": "no answer in time",
    "IncompleteRead": "the body ends too early",
    "ended prematurely": "the body ends too early",
    "CERTIFICATE": "the server's certificate cannot be verified",
    "redirects": "the server redirects too often",
    "resolve": "the server's name cannot be resolved",
}


def _reason(error: Exception) -> str:
    """Return a short reason for a failed connection, from the nested requests and urllib3 errors."""
    text = str(error)
    reason_of_part = next((reason for part, reason in _REASONS.items() if part in text), None)
    match = re.search(r"\[Errno -?\d+\] ([\w ]+)", text)
    return reason_of_part or (match[1].lower() if match else "the connection broke")
