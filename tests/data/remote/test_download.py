"""One file over HTTP: every fault ends in the right bytes or in one sentence."""

import gzip
import hashlib
import re
import time
from types import SimpleNamespace

import pytest

from mfbench.base.text import plain_text
from mfbench.data.download import RefusedError, fetch_file, fetch_json
from mfbench.errors import DataError, DataUnavailableError

BODY = b"".join(b"%d,%d\n" % (i, i * i) for i in range(3000))
SHA256, MD5 = hashlib.sha256(BODY).hexdigest(), hashlib.md5(BODY).hexdigest()


@pytest.fixture
def pauses(monkeypatch):
    """The seconds that a download would sleep; other threads of the process, such as those of Dask, do sleep."""
    seconds = []
    monkeypatch.setattr("urllib3.util.retry.time", SimpleNamespace(**{**vars(time), "sleep": seconds.append}))
    return seconds


@pytest.fixture
def fetch(tmp_path):
    """Return a function that downloads a body and compares it with the checksum returned."""

    def download(url, **options):
        path = tmp_path / "table"
        sha256 = fetch_file(url, path, **{"what": "the leaf", **options})
        assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256
        return path.read_bytes()

    return download


@pytest.fixture
def url(site):
    return site.page("/file", BODY)


def one_sentence(error, *parts):
    """Check that a message is one line that holds the parts and no traces of Python."""
    text = str(error.value)
    assert "\n" not in text
    assert not re.search(r"object at 0x|Traceback|HTTPConnectionPool|\(Caused", text)
    for part in parts:
        assert part in text


class TestGood:
    def test_file(self, url, tmp_path):
        path = tmp_path / "table.csv"
        assert fetch_file(url, path, what="the leaf", md5=MD5.upper()) == SHA256
        assert path.read_bytes() == BODY

    def test_progress_goes_from_nothing_to_all(self, fetch, url):
        calls = []
        fetch(url, progress=lambda done, total: calls.append((done, total)))
        assert calls[0] == (0, len(BODY))
        assert calls[-1] == (len(BODY), len(BODY))
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)

    def test_unknown_length_and_empty_body(self, fetch, site, faults, url):
        site.faults["/file"] = [lambda handler, status, body: handler.answer(status, body, length="none")]
        calls = []
        assert fetch(url, progress=lambda done, total: calls.append(total)) == BODY
        assert set(calls) == {None}
        assert fetch(site.page("/empty", b"")) == b""

    def test_compressed_body(self, fetch, site, url):
        zipped = gzip.compress(BODY)
        site.faults["/file"] = [lambda handler, status, body: handler.answer(status, zipped, Content_Encoding="gzip")]
        assert fetch(url) == BODY

    def test_redirects_are_followed(self, fetch, site, faults, url):
        site.faults["/old"] = [faults.elsewhere("/older")]
        site.faults["/older"] = [faults.elsewhere(url)]
        assert fetch(site.url + "/old") == BODY


class TestRetried:
    def test_faults_that_pass(self, subtests, site, faults, url, quick, tmp_path):
        for fault in [
            "500",
            "503",
            "429",
            "truncated",
            "altered",
            "silent",
            "hang_up",
            "twice 500",
            "truncated, then 502",
        ]:
            with subtests.test(fault=fault):
                quick(fault)
                known = {
                    "500": [faults.status(500)],
                    "503": [faults.status(503, Retry_After="0")],
                    "429": [faults.status(429, Retry_After="nonsense")],
                    "twice 500": [faults.status(500)] * 2,
                    "truncated, then 502": [faults.truncated, faults.status(502)],
                }
                site.faults["/file"] = [*(known.get(fault) or [getattr(faults, fault)]), faults.none]
                path = tmp_path / "table"
                assert fetch_file(url, path, what="the leaf", md5=MD5) == SHA256
                assert path.read_bytes() == BODY

    def test_progress_starts_again(self, fetch, site, faults, url, quick):
        site.faults["/file"] = [faults.truncated, faults.none]
        calls = []
        fetch(url, progress=lambda done, total: calls.append(done))
        assert calls.count(0) == 2
        assert calls[-1] == len(BODY)

    def test_a_truncated_body_of_unknown_length_is_found_by_its_checksum(self, fetch, site, faults, url, quick):
        def cut(handler, status, body):
            handler.answer(status, body[:-5], length="none")

        site.faults["/file"] = [cut, faults.none]
        assert fetch(url, md5=MD5) == BODY

    def test_pauses_grow_and_respect_the_server(self, fetch, site, faults, url, pauses):
        site.faults["/file"] = [faults.status(500)] * 3 + [faults.status(503, Retry_After="9"), faults.none]
        assert fetch(url) == BODY
        for pause, least in zip(pauses, (2, 4), strict=False):
            assert least <= pause <= least + 0.5
        assert pauses[-1] == 9

    def test_a_server_cannot_demand_a_long_pause(self, fetch, site, faults, url, pauses):
        site.faults["/file"] = [faults.status(503, Retry_After="999999"), faults.none]
        assert fetch(url) == BODY
        assert pauses == [60.0]


class TestRefused:
    def test_one_sentence(self, subtests, site, faults, url, quick, tmp_path):
        for fault, kind, parts, requests in [
            ("404", RefusedError, ["the leaf does not exist at", "HTTP 404", "check its number or name"], 1),
            ("403", RefusedError, ["the leaf is refused at", "HTTP 403"], 1),
            ("500", DataUnavailableError, ["cannot fetch the leaf at", "HTTP 500", "(3 attempts)", "--data-dir"], 3),
            ("truncated", DataUnavailableError, ["the body ends too early", "(2 attempts)", "try again"], 2),
            ("silent", DataUnavailableError, ["no answer in time", "check the network"], 3),
            ("stalled", DataUnavailableError, ["no answer in time (2 attempts)"], 2),
            ("hang_up", DataUnavailableError, ["the connection broke"], 3),
            ("drip", DataUnavailableError, ["did not arrive within 0.7 s", "try again later"], 1),
            ("loop", DataUnavailableError, ["the server redirects too often"], 31),
            ("endless", DataError, ["larger than the limit of 1.0 MiB", "file:PATH"], 1),
            ("gigabytes", DataError, ["larger than the limit of 1.0 MiB"], 1),
            ("altered", DataError, ["has the MD5", f"expected {MD5} (2 attempts)", "damaged"], 2),
        ]:
            with subtests.test(fault=fault, kind=kind):
                site.forget()
                site.faults["/file"] = [faults.status(int(fault)) if fault.isdigit() else getattr(faults, fault)]
                path = tmp_path / "table"
                quick(fault)
                with pytest.raises(DataError) as error:
                    fetch_file(url, path, what="the leaf", md5=MD5)
                assert type(error.value) is kind
                one_sentence(error, url, *parts)
                assert len(site.asked) == requests

    def test_a_wrong_checksum_names_both(self, fetch, url, quick):
        with pytest.raises(DataError) as error:
            fetch(url, md5="0" * 32)
        one_sentence(error, f"has the MD5 {MD5}, expected {'0' * 32}")

    def test_an_endless_body_is_stopped_early(self, fetch, site, faults, url, quick):
        site.faults["/file"] = [faults.endless]
        with pytest.raises(DataError):
            fetch(url)
        assert site.hung_up.wait(5)
        assert site.sent < 100 << 20

    def test_a_small_body_that_unpacks_to_a_long_one(self, fetch, site, url, quick):
        bomb = gzip.compress(bytes(1 << 25))
        site.faults["/file"] = [lambda handler, status, body: handler.answer(status, bomb, Content_Encoding="gzip")]
        with pytest.raises(DataError, match=r"larger than the limit of 1\.0 MiB"):
            fetch(url)

    def test_nobody_listens(self, fetch, quick, site):
        with pytest.raises(DataUnavailableError) as error:
            fetch("http://127.0.0.1:9/file")
        one_sentence(error, "connection refused", "check the network")

    def test_an_unknown_server(self, fetch, quick, site):
        with pytest.raises(DataUnavailableError) as error:
            fetch("http://no-such-host.invalid/file")
        one_sentence(error, "http://no-such-host.invalid/file")

    def test_other_addresses(self, fetch, subtests, quick):
        for address in ["file:///etc/passwd", "ftp://example.org/x", "nonsense", "http://[1/x", "http://"]:
            with subtests.test(address=address):
                with pytest.raises(DataError) as error:
                    fetch(address)
                one_sentence(error, "is not a web address")

    def test_a_password_is_not_shown(self, fetch, quick, site):
        with pytest.raises(DataError) as error:
            fetch(site.url.replace("//", "//me:secret@") + "/none")
        assert "secret" not in str(error.value)

    def test_a_folder_that_is_not_there(self, url, tmp_path):
        with pytest.raises(DataError) as error:
            fetch_file(url, tmp_path / "none" / "table", what="the leaf")
        one_sentence(error, "the leaf cannot be written to", "No such file or directory")


class TestJson:
    def test_good(self, site):
        assert fetch_json(site.page("/json", {"a": [1]}), what="the list") == {"a": [1]}

    def test_something_else(self, subtests, site):
        for body in [b"<html>", b"", b"\xff\xfe\x00", b"[" * 200_000]:
            with subtests.test(body=body):
                with pytest.raises(DataError) as error:
                    fetch_json(site.page("/json", body), what="the list")
                one_sentence(error, "the list at", "is not JSON", "try again later")


def test_words_of_a_server_cannot_steer_the_terminal():
    assert plain_text("a\x1b]0;b\x07\r\n\tc\u202ed") == "a]0;b cd"
