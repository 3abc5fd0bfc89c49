"""One file over HTTP: every fault ends in the right bytes or in one sentence, and leaves nothing half-written."""

import gzip
import hashlib
import re
import shutil
import ssl
import subprocess
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from mfbench.base.untrusted import plain_text
from mfbench.data.remote.download import Policy, RefusedError, fetch, fetch_file, fetch_json
from mfbench.errors import DataError, DataUnavailableError

BODY = b"".join(b"%d,%d\n" % (i, i * i) for i in range(3000))
SHA256, MD5 = hashlib.sha256(BODY).hexdigest(), hashlib.md5(BODY).hexdigest()


@pytest.fixture
def is_over():
    """An event that is set after the test."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def pauses(monkeypatch):
    """The seconds that a download would sleep; other threads of the process, such as those of Dask, do sleep."""
    seconds = []
    clock = SimpleNamespace(**{**vars(time), "sleep": seconds.append})
    monkeypatch.setattr("mfbench.data.remote.download.time", clock)
    return seconds


@pytest.fixture
def secure_site(site, tmp_path, monkeypatch):
    """The server under https, with a certificate of its own, which is trusted."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    site.server.socket = context.wrap_socket(site.server.socket, server_side=True)
    site.url = site.url.replace("http:", "https:")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    return site


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
    def test_bytes(self, url):
        assert fetch(url, sha256=SHA256, md5=MD5.upper()) == BODY

    def test_file(self, url, tmp_path):
        path = tmp_path / "table.csv"
        path.write_text("old")
        received = fetch_file(url, path, sha256=SHA256, md5="")
        assert path.read_bytes() == BODY
        assert (received.size, received.sha256, received.md5) == (len(BODY), SHA256, MD5)
        assert [found.name for found in tmp_path.iterdir()] == ["table.csv"]

    def test_progress_goes_from_nothing_to_all(self, url):
        calls = []
        fetch(url, progress=lambda done, total: calls.append((done, total)))
        assert calls[0] == (0, len(BODY))
        assert calls[-1] == (len(BODY), len(BODY))
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)

    def test_unknown_length_and_empty_body(self, site, faults, url):
        site.faults["/file"] = [lambda handler, status, body: handler.answer(status, body, length="none")]
        calls = []
        assert fetch(url, progress=lambda done, total: calls.append(total)) == BODY
        assert set(calls) == {None}
        assert fetch(site.page("/empty", b"")) == b""

    def test_compressed_body(self, site, url):
        zipped = gzip.compress(BODY)
        site.faults["/file"] = [lambda handler, status, body: handler.answer(status, zipped, Content_Encoding="gzip")]
        assert fetch(url, sha256=SHA256) == BODY

    def test_redirects_are_followed(self, site, faults, url):
        site.faults["/old"] = [faults.elsewhere("/older")]
        site.faults["/older"] = [faults.elsewhere(url)]
        assert fetch(site.url + "/old") == BODY


class TestRetried:
    def test_faults_that_pass(self, subtests, site, faults, url, policy_for, tmp_path):
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
                known = {
                    "500": [faults.status(500)],
                    "503": [faults.status(503, Retry_After="0")],
                    "429": [faults.status(429, Retry_After="nonsense")],
                    "twice 500": [faults.status(500)] * 2,
                    "truncated, then 502": [faults.truncated, faults.status(502)],
                }
                site.faults["/file"] = [*(known.get(fault) or [getattr(faults, fault)]), faults.none]
                path = tmp_path / "table"
                assert fetch_file(url, path, policy=policy_for(fault), md5=MD5).sha256 == SHA256
                assert path.read_bytes() == BODY
                assert len(list(tmp_path.iterdir())) == 1

    def test_progress_starts_again(self, site, faults, url, quick):
        site.faults["/file"] = [faults.truncated, faults.none]
        calls = []
        fetch(url, policy=quick, progress=lambda done, total: calls.append(done))
        assert calls.count(0) == 2
        assert calls[-1] == len(BODY)

    def test_a_truncated_body_of_unknown_length_is_found_by_its_checksum(self, site, faults, url, quick):
        def cut(handler, status, body):
            handler.answer(status, body[:-5], length="none")

        site.faults["/file"] = [cut, faults.none]
        assert fetch(url, policy=quick, sha256=SHA256) == BODY

    def test_pauses_grow_and_respect_the_server(self, site, faults, url, pauses):
        site.faults["/file"] = [faults.status(500)] * 3 + [faults.status(503, Retry_After="9"), faults.none]
        assert fetch(url, policy=Policy(pause=1.0)) == BODY
        for pause, middle in zip(pauses, (1, 2, 4), strict=False):
            assert middle / 2 <= pause <= middle * 1.5
        assert pauses[3] >= 9

    def test_a_server_cannot_demand_a_long_pause(self, site, faults, url, pauses):
        site.faults["/file"] = [faults.status(503, Retry_After="999999"), faults.none]
        assert fetch(url) == BODY
        assert pauses == [60.0]


class TestRefused:
    def test_one_sentence_and_no_file(self, subtests, site, faults, url, policy_for, tmp_path):
        for fault, kind, parts, requests in [
            ("404", RefusedError, ["the leaf does not exist at", "HTTP 404", "check its number or name"], 1),
            ("403", RefusedError, ["the leaf is refused at", "HTTP 403"], 1),
            ("500", DataUnavailableError, ["cannot fetch the leaf at", "HTTP 500", "(3 attempts)", "--data-dir"], 3),
            ("truncated", DataUnavailableError, ["the body ends too early", "(3 attempts)", "try again"], 3),
            ("silent", DataUnavailableError, ["no answer within 0.2 s", "(3 attempts)"], 3),
            ("hang_up", DataUnavailableError, ["the connection broke", "(3 attempts)"], 3),
            ("drip", DataUnavailableError, ["did not arrive within 0.7 s", "try again later"], 1),
            ("loop", DataError, ["redirects more than 5 times"], 6),
            ("endless", DataError, ["larger than the limit of 1.0 MiB", "file:PATH"], 1),
            ("gigabytes", DataError, ["larger than the limit of 1.0 MiB"], 1),
            ("altered", DataError, [f"expected {SHA256}", "(2 attempts)", "damaged"], 2),
        ]:
            with subtests.test(fault=fault, kind=kind):
                site.forget()
                site.faults["/file"] = [faults.status(int(fault)) if fault.isdigit() else getattr(faults, fault)]
                path = tmp_path / "table"
                path.write_text("old")
                with pytest.raises(DataError) as error:
                    fetch_file(url, path, what="the leaf", policy=policy_for(fault), sha256=SHA256)
                assert type(error.value) is kind
                one_sentence(error, url, *parts)
                assert path.read_text() == "old"
                assert len(list(tmp_path.iterdir())) == 1
                assert len(site.asked) == requests

    def test_a_wrong_checksum_names_both(self, url, quick):
        with pytest.raises(DataError) as error:
            fetch(url, policy=quick, md5="0" * 32)
        one_sentence(error, f"has the MD5 {MD5}, expected {'0' * 32}")

    def test_an_endless_body_is_stopped_early(self, site, faults, url, quick):
        site.faults["/file"] = [faults.endless]
        with pytest.raises(DataError):
            fetch(url, policy=quick)
        assert site.hung_up.wait(5)
        assert site.sent < 100 << 20

    def test_a_small_body_that_unpacks_to_a_long_one(self, site, url, quick):
        bomb = gzip.compress(bytes(1 << 25))
        site.faults["/file"] = [lambda handler, status, body: handler.answer(status, bomb, Content_Encoding="gzip")]
        with pytest.raises(DataError, match=r"larger than the limit of 1\.0 MiB"):
            fetch(url, policy=quick)

    def test_the_body_of_a_redirect_is_not_read(self, site, faults, url, quick):
        def long_way(handler, status, body):
            handler.answer(302, b"", length="none", Location=url)
            faults.endless(handler, 200, body)

        site.faults["/old"] = [long_way]
        assert fetch(site.url + "/old", policy=quick) == BODY

    def test_the_deadline_includes_pauses(self, site, faults, url):
        site.faults["/file"] = [faults.status(503, Retry_After="30")]
        with pytest.raises(DataUnavailableError, match="HTTP 503"):
            fetch(url, policy=Policy(deadline=1))
        assert len(site.asked) == 1

    def test_the_deadline_bounds_every_part_of_an_answer(self, site, faults, url, drip, tmp_path):
        site.faults["/file"] = [faults.dripping(*drip, pause=0.1)]
        with pytest.raises(DataUnavailableError) as error:
            fetch_file(url, tmp_path / "table", what="the leaf", policy=Policy(timeout=5, deadline=0.5))
        one_sentence(error, "the leaf at", "did not arrive within 0.5 s", "try again later")
        assert not list(tmp_path.iterdir())
        assert site.hung_up.wait(5), "the connection was ended, not left behind"

    def test_the_deadline_includes_the_look_up_of_a_name(self, url, monkeypatch, is_over):
        monkeypatch.setattr("socket.getaddrinfo", lambda *args, **options: is_over.wait(20) and [])
        with pytest.raises(DataUnavailableError, match=r"did not arrive within 0\.2 s"):
            fetch(url, policy=Policy(deadline=0.2))
        assert not is_over.is_set()

    def test_headers_without_end_are_refused(self, subtests, site, faults, url, quick):
        for head, piece in [
            # Few and long: from 3.14 on, Python itself refuses more than 100.
            (b"", b"HTTP/1.1 100 Continue\r\nX: %b\r\n\r\n" % (b"y" * 9999) * 50),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", b"X:%b\r\n" % (b"y" * 9999) * 50),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", (b"1;" + b"x" * 999 + b"\r\nx\r\n") * 999),
        ]:
            with subtests.test(head=head[:40], piece=piece[:20]):
                site.forget()
                site.faults["/file"] = [faults.dripping(head, piece)]
                with pytest.raises(DataError) as error:
                    fetch(url, what="the leaf", policy=quick)
                one_sentence(error, "the leaf at", "more than 256 KiB of headers")
                assert len(site.asked) == 1

    def test_too_many_headers_are_refused(self, site, faults, url, quick):
        site.faults["/file"] = [faults.dripping(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 200)]
        with pytest.raises(DataUnavailableError, match="the server sends more than 100 headers"):
            fetch(url, policy=replace(quick, retries=0))

    def test_small_chunks_are_no_headers(self, site, url):
        def chunked(handler, status, body):
            handler.protocol_version = "HTTP/1.1"
            handler.answer(200, b"", length="none", Transfer_Encoding="chunked")
            handler.wfile.write(b"".join(b"1\r\n%c\r\n" % byte for byte in long) + b"0\r\n\r\n")

        long = BODY * 5
        site.faults["/file"] = [chunked]
        assert fetch(url) == long

    def test_nobody_listens(self, quick, site):
        with pytest.raises(DataUnavailableError) as error:
            fetch("http://127.0.0.1:9/file", policy=quick)
        one_sentence(error, "connection refused", "check the network")

    def test_an_unknown_server(self, quick, site):
        with pytest.raises(DataUnavailableError) as error:
            fetch("http://no-such-host.invalid/file", policy=replace(quick, retries=0))
        one_sentence(error, "http://no-such-host.invalid/file")

    def test_other_addresses(self, subtests, quick):
        for address in ["file:///etc/passwd", "ftp://example.org/x", "nonsense", "http://[1/x", "http://"]:
            with subtests.test(address=address):
                with pytest.raises(DataError) as error:
                    fetch(address, policy=quick)
                one_sentence(error, "is not a web address")

    def test_redirects_to_other_addresses(self, subtests, site, faults, quick):
        for address in ["file:///etc/passwd", "ftp://example.org/x", "http://[1/x"]:
            with subtests.test(address=address):
                site.faults["/old"] = [faults.elsewhere(address)]
                with pytest.raises(DataError) as error:
                    fetch(site.url + "/old", policy=quick)
                one_sentence(error, "is not a web address")

    def test_no_redirect_leaves_https(self, secure_site, quick, faults):
        site = secure_site
        assert fetch(site.page("/file", BODY)) == BODY
        site.faults["/old"] = [faults.elsewhere("/file")]
        assert fetch(site.url + "/old", policy=quick) == BODY, "a redirect within https"
        site.faults["/plain"] = [faults.elsewhere("http://127.0.0.1:9/file")]
        with pytest.raises(DataError) as error:
            fetch(site.url + "/plain", policy=quick)
        one_sentence(error, "redirects from https to the unencrypted address http://127.0.0.1:9/file", "file:PATH")

    def test_a_password_is_not_shown(self, quick, site):
        with pytest.raises(DataError) as error:
            fetch(site.url.replace("//", "//me:secret@") + "/none", policy=quick)
        assert "secret" not in str(error.value)

    def test_an_interrupt_leaves_no_file(self, url, tmp_path):
        def interrupt(done, total):
            if done:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fetch_file(url, tmp_path / "table", progress=interrupt)
        assert not list(tmp_path.iterdir())

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
