"""The log: limits of a section and of the file, with a note where output is missing."""

from mfbench.processes.log import CappedLog, make_room


def test_each_section_is_cut_once(tmp_path):
    log = CappedLog(str(tmp_path / "log"), section_limit=10)
    for section, text in ((0, b"12345"), (0, b"6789012345"), (0, b"more"), (1, b"next")):
        log.write(text, section)
    log.close()
    assert (tmp_path / "log").read_bytes() == (
        b"1234567890\n[mfbench dropped this trial's output beyond 10 bytes]\nnext"
    )


def test_the_file_is_cut_for_all_writers(tmp_path):
    logs = [CappedLog(str(tmp_path / "log"), file_limit=20) for _ in range(2)]
    for log in logs:
        for section in range(3):
            log.write(b"123456789", section)
        log.close()
    note = b"\n[mfbench dropped output beyond 20 bytes in all]\n"
    assert (tmp_path / "log").read_bytes() == b"123456789" * 2 + note * 2


def test_a_file_that_cannot_be_opened_drops_everything(tmp_path):
    log = CappedLog(str(tmp_path / "no" / "folder"))
    log.write(b"text", 0)
    log.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_log_is_emptied_before_a_run(tmp_path):
    log = tmp_path / "log"
    make_room(log)
    log.write_bytes(b"x" * 2_000_000)
    make_room(log)
    assert log.stat().st_size == 2_000_000
    make_room(log, file_limit=2_500_000)
    assert log.stat().st_size == 0
