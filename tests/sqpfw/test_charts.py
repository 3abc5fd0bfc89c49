"""The command that draws the charts."""

import pytest

from mfbench_sqpfw import charts


def test_charts(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="the extra 'figures' is not installed")
    words = ["--dataset", "iris", "--theta-max", "0.01", "--sizes", "60,120", str(tmp_path)]
    assert charts.main(words) == 0
    assert "breakpoints" in (tmp_path / "path.svg").read_text()
    assert (tmp_path / "scaling.svg").stat().st_size > 1000
    for sizes in ("60", "60,60", "a,b", "60,4"):
        with pytest.raises(SystemExit, match="2"):
            charts.main(["--sizes", sizes, str(tmp_path)])
        assert "at least two different numbers of samples" in capsys.readouterr().err
    assert charts.main(["--dataset", "no-such-set", str(tmp_path)]) == 2
    assert charts.main(["--dataset", "iris", "--kappa", "0", str(tmp_path)]) == 2
    assert "error:" in capsys.readouterr().err
