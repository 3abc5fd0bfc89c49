from pathlib import Path

from correct_methods import MeanGap
from opening import failure, opened, remark

from mfbench_check.subjects import Opened


class WritesManyFiles(MeanGap):
    def gaps(self, X, y):
        for number in range(5):
            Path(f"{number}.txt").write_text("")
        return super().gaps(X, y)


class ReadsItself(MeanGap):
    def gaps(self, X, y):
        Path(__file__).read_text()
        return super().gaps(X, y)


def test_the_first_files_are_named(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Opened, "make", lambda self: WritesManyFiles())
    error = failure("working-directory", opened("correct_methods", "mean-gap", "selector"))
    assert error.seen == "0.txt, 1.txt, 2.txt and 2 more"


def test_files_may_be_read(monkeypatch):
    monkeypatch.setattr(Opened, "make", lambda self: ReadsItself())
    for check in ("network", "home", "working-directory"):
        assert remark(check, opened("correct_methods", "mean-gap", "selector")) is None
