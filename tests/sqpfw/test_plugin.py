import pytest

from mfbench_sqpfw import plugin


def test_specs():
    assert [spec.name for spec in plugin.mfbench_selectors()] == ["sqpfw", "sqpfw-path", "sqpfw-cv"]
    assert [spec.name for spec in plugin.mfbench_classifiers()] == ["sqpfw", "sqpfw-cv"]
    assert all(spec.warm_up for spec in [*plugin.mfbench_selectors(), *plugin.mfbench_classifiers()])


def test_one_fit_serves_the_path(tmp_path):
    """In a suite, tuning theta_max follows one path, and gives what a fit for each value gives."""
    import numpy as np

    from mfbench_sqpfw import SQPFeatureWeightingPath

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    long = SQPFeatureWeightingPath(theta_max=0.5).fit(X, y)
    for theta in (0.01, 0.2):
        assert np.allclose(
            long.weights_at(theta), SQPFeatureWeightingPath(theta_max=theta).fit(X, y).weights_, atol=1e-9
        )


def test_figures(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="the extra 'figures' is not installed")
    from mfbench_sqpfw import figures

    words = ["--dataset", "iris", "--theta-max", "0.01", "--sizes", "60,120", str(tmp_path)]
    assert figures.main(words) == 0
    assert "breakpoints" in (tmp_path / "path.svg").read_text()
    assert (tmp_path / "scaling.svg").stat().st_size > 1000
    for sizes in ("60", "60,60", "a,b", "60,4"):
        with pytest.raises(SystemExit, match="2"):
            figures.main(["--sizes", sizes, str(tmp_path)])
        assert "at least two numbers of samples" in capsys.readouterr().err
    assert figures.main(["--dataset", "no-such-set", str(tmp_path)]) == 2
    assert figures.main(["--dataset", "iris", "--kappa", "0", str(tmp_path)]) == 2
    assert "error:" in capsys.readouterr().err
