"""The command that draws the paper's figures 2 and 3 on the toy data."""

import pytest

from mfbench_sqpfw import toy_charts


def test_snapshots_are_distinct_and_the_first_weight_grows():
    path = toy_charts.toy_path()
    first = path.after[toy_charts.snapshots(path), 0]
    assert first[0] == 0.5 and first[-1] == pytest.approx(1.0)
    assert (first[1:] > first[:-1]).all()


def test_pictures(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="the extra 'figures' is not installed")
    assert toy_charts.main([str(tmp_path / "new")]) == 0
    assert "over the breakpoints" in (tmp_path / "new" / "toy-path.svg").read_text()
    assert "theta = 0.000" in (tmp_path / "new" / "toy-spaces.svg").read_text()
    (tmp_path / "file").write_text("")
    assert toy_charts.main([str(tmp_path / "file")]) == 1
    assert "error:" in capsys.readouterr().err
