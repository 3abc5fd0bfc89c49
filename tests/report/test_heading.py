"""The head of a report: title, setting, environment and the command that makes it again."""

from mfbench.report.heading import data_of, environment_of, regeneration_command, setting_of


class TestHeads:
    def test_the_title_or_the_name(self, write_run):
        assert write_run({("d", "A"): 0.5}).meta.title == "Own suite"
        assert write_run({("d", "A"): 0.5}, title="").meta.title == "own"

    def test_the_setting_is_that_of_the_protocol(self, small_run):
        text = setting_of(small_run)
        assert "Profile quick: 5-fold cross-validation, stratified, all classes" in text
        assert "seed 7" in text
        assert "repeated" not in text
        assert "tuning by inner 5-fold cross-validation" in text

    def test_tuning_per_dataset_is_part_of_the_setting(self, write_run):
        cells = {("d", "A"): 0.5, ("d", "B"): 0.4}
        both = write_run(cells, selection={"A": "nested", "B": "per-dataset"})
        assert "tuning per dataset on the reported folds or by inner 5-fold cross-validation, seed" in setting_of(both)
        alone = write_run(cells, selection={"A": "per-dataset"})
        assert "tuning per dataset on the reported folds, seed" in setting_of(alone)

    def test_a_part_without_tuned_methods_has_the_suites_setting(self, write_run):
        run = write_run({("d", "A"): 0.5})
        protocol = run.meta.protocol.model_copy(update={"selection": "per-dataset"})
        run.meta = run.meta.model_copy(update={"protocol": protocol})
        assert "tuning per dataset on the reported folds, seed" in setting_of(run)

    def test_one_worker_is_singular(self, small_run):
        assert environment_of(small_run).endswith(", 2 workers")
        environment = small_run.meta.environment.model_copy(update={"jobs": 1})
        small_run.meta = small_run.meta.model_copy(update={"environment": environment})
        assert environment_of(small_run).endswith(", 1 worker")

    def test_data_name_how_results_are_compared(self, small_run):
        data = data_of(small_run)
        assert (data["title"], data["metric"], data["reference"]) == ("Own suite", "accuracy", "B")
        assert (data["test"], data["alpha"]) == ("corrected-t", 0.05)


def test_the_command_can_be_typed(write_run):
    words = ["mfbench", "suite", "my suite.toml", "--only", "wave*"]
    run = write_run({("d", "A"): 0.5}, command=words)
    assert regeneration_command(run) == "mfbench suite 'my suite.toml' --only 'wave*' && mfbench report own --md"
    with_options = regeneration_command(run, "a b.md", statistics=True, reference="A")
    assert with_options.endswith(" && mfbench report own --statistics --reference A --md --output 'a b.md'")
    run = write_run({("d", "A"): 0.5}, command=words[:3], out="my runs")
    assert regeneration_command(run) == (
        "mfbench suite 'my suite.toml' --out 'my runs' && mfbench report own --out 'my runs' --md"
    )
