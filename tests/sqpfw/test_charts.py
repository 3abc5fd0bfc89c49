"""The charts of a path and of the time of a step, and the command that draws them."""

from xml.etree import ElementTree

import numpy as np
import pytest

from mfbench import Chart, save_chart
from mfbench_sqpfw import charts, sqpfw_path

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script>",
    "{{7*7}}",
    "a.b[0]",
    'it\'s "q"',
    "C:\\new",
    "__proto__",
    "&amp;",
]


@pytest.fixture
def path(noisy):
    return sqpfw_path(*noisy, 0.05, kappa=1)


def texts(file):
    return ["".join(e.itertext()) for e in ElementTree.parse(file).iter() if e.tag.endswith("}text")]


class TestPath:
    def test_every_theta_has_the_weights_before_and_after_it(self, path):
        rows = charts.weights_over_theta(path, "abcdefgh")
        assert len(rows) == 2 * 8 * len(path.thetas)
        third = [row for row in rows if row["feature"] == "c"]
        assert [row["order"] for row in third] == list(range(2 * len(path.thetas)))
        assert [row["theta"] for row in third] == np.repeat(path.thetas, 2).tolist()
        assert [row["weight"] for row in third[::2]] == path.before[:, 2].tolist()
        assert [row["weight"] for row in third[1::2]] == path.after[:, 2].tolist()

    def test_the_chart_has_all_weights_and_a_mark_for_each_breakpoint_and_jump(self, path):
        names = "abcdefgh"
        lines, ticks = charts.draw_path(path, names).to_dict()["vconcat"]
        weights = [row for layer in lines["layer"] for row in layer["data"]["values"]]
        assert sorted(weights, key=lambda row: (row["number"], row["order"])) == charts.weights_over_theta(path, names)
        marks = ticks["data"]["values"]
        assert [row["theta"] for row in marks if row["kind"] == "breakpoints"] == path.thetas[1:].tolist()
        assert [row["theta"] for row in marks if row["kind"] == "jumps"] == path.thetas[path.jumps].tolist()

    def test_the_legend_names_the_largest_final_weights(self, tmp_path):
        X, y = np.random.default_rng(0).normal(size=(60, 10)), np.arange(60) % 2
        X[:, 9] += 3.0 * y
        path = sqpfw_path(X, y, 0.02, kappa=1)
        chart = Chart("path", "A path", spec=lambda: charts.draw_path(path, [f"f{number}" for number in range(10)]))
        named = {word for word in texts(save_chart(chart, tmp_path / "path.svg")) if word.startswith("f")}
        assert named == {f"f{number}" for number in np.argsort(-path.rows[-1], kind="stable")[:8]}
        assert "f9" in named

    def test_names_are_plain_text(self, path, tmp_path):
        chart = Chart("path", "</title>", spec=lambda: charts.draw_path(path, HOSTILE))
        assert {"</title>", *HOSTILE} <= set(texts(save_chart(chart, tmp_path / "path.svg")))


class TestScaling:
    def test_times_are_in_milliseconds_on_logarithmic_axes(self):
        content = charts.draw_scaling([100, 200], [0.001, 0.004]).to_dict()
        assert [list(row.values()) for row in content["data"]["values"]] == [[100, 1.0], [200, 4.0]]
        assert {content["encoding"][axis]["scale"]["type"] for axis in "xy"} == {"log"}

    def test_the_title_has_the_exponents(self):
        sizes = [100, 200, 400]
        assert charts.scaling_title(sizes, [n**1.5 for n in sizes]).endswith(
            "n^1.50 over all sizes, n^1.50 at the largest"
        )
        assert charts.scaling_title(sizes, [1.0, 1.0, 4.0]).endswith("n^1.00 over all sizes, n^2.00 at the largest")


def test_the_command_draws_both_charts(tmp_path, capsys):
    words = ["--dataset", "iris", "--theta-max", "0.01", "--sizes", "60,120", str(tmp_path)]
    assert charts.main(words) == 0
    path, scaling = (texts(tmp_path / f"{name}.svg") for name in ("path", "scaling"))
    assert any(word.startswith("iris: ") and "breakpoints" in word for word in path)
    assert {"theta", "weight", "breakpoints"} <= set(path)
    assert {"60", "120", "milliseconds per step"} <= set(scaling)
    assert any(word.startswith("Time of a step, 20 features: ~ n^") for word in scaling)
    for sizes in ("60", "60,60", "a,b", "60,4"):
        with pytest.raises(SystemExit, match="2"):
            charts.main(["--sizes", sizes, str(tmp_path)])
        assert "at least two different numbers of samples" in capsys.readouterr().err
    assert charts.main(["--dataset", "no-such-set", str(tmp_path)]) == 2
    assert charts.main(["--dataset", "iris", "--kappa", "0", str(tmp_path)]) == 2
    assert "error:" in capsys.readouterr().err
