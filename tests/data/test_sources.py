"""Where to search for datasets: options, and the environment behind them."""

from mfbench.data.cache import DataOptions, default_cache, default_mirror


def test_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path / "c"))
    monkeypatch.setenv("MFBENCH_DATA_DIR", str(tmp_path / "m"))
    assert (default_cache(), default_mirror()) == (tmp_path / "c", tmp_path / "m")
    assert DataOptions.of().mirror == tmp_path / "m"
    assert DataOptions.of(tmp_path, True) == DataOptions(tmp_path, tmp_path / "c", True)
    monkeypatch.setenv("MFBENCH_DATA_DIR", "")
    monkeypatch.delenv("MFBENCH_CACHE")
    assert default_mirror() is None
    assert default_cache().is_absolute() and "mfbench" in str(default_cache())
