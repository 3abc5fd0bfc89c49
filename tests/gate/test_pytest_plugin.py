"""The fixture, used as a package of selectors uses it: in a test file of its own."""

pytest_plugins = ["pytester"]

TEST = """
def test_speed(benchmark_method):
    fitted = benchmark_method("knn(n_neighbors=1)", "iris")
    assert fitted.n_neighbors == 1
"""
LOAD = ("-p", "no:cacheprovider")


def test_three_lines_measure_a_method(pytester, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # pytest-benchmark measures nothing in a worker
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess(*LOAD, "--benchmark-json=times.json", "--benchmark-max-time=0.01")
    result.assert_outcomes(passed=1)
    content = (pytester.path / "times.json").read_text()
    assert '"method": "knn(n_neighbors=1)"' in content
    assert '"dataset": "iris"' in content


def test_without_pytest_benchmark_one_sentence_says_so(pytester):
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess(*LOAD, "-p", "no:benchmark")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*benchmark_method needs pytest-benchmark: pip install pytest-benchmark*"])


def test_an_unknown_method_is_named(pytester):
    pytester.makepyfile(TEST.replace("knn(n_neighbors=1)", "relief_f"))
    result = pytester.runpytest_inprocess(*LOAD)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*did you mean 'relieff'?*"])
