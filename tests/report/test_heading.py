"""The head of a report: title, setting, environment and the command that makes it again."""

from pathlib import Path

from toy_protocols import completed, recorded

from mfbench.report.heading import Form, data_of, environment_of, regeneration_commands, setting_of

MARKDOWN = Form("md")


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

    def test_datasets_with_other_classes_than_those_of_the_protocol_are_named(self, write_run):
        run = write_run({("d", "A"): 0.5, ("e", "A"): 0.5})
        protocol = run.meta.protocol.model_copy(update={"classes": "two-largest"})
        for classes, text in [
            ({}, "stratified, two largest classes, "),
            ({"e": "all"}, "stratified, two largest classes (all classes of e), "),
            ({"e": "all", "d": "all"}, "stratified, all classes, "),
        ]:
            run.meta = run.meta.model_copy(update={"protocol": protocol, "classes": classes})
            assert text in setting_of(run)

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


def test_the_commands_can_be_typed(write_run):
    words = ["mfbench", "suite", "my suite.toml", "--only", "wave*"]
    run = write_run({("d", "A"): 0.5}, command=words)
    suite = "mfbench suite 'my suite.toml' --only 'wave*'"
    assert regeneration_commands(run, MARKDOWN) == [suite, "mfbench report own --md"]
    form = Form("md", statistics=True, output=Path("a b.md"), figures=Path("f"))
    assert regeneration_commands(run.replace(reference="A"), form) == [
        suite,
        "mfbench report own --statistics --reference A --md --figures f --output 'a b.md'",
    ]
    run = write_run({("d", "A"): 0.5}, command=words[:3], out="my runs")
    assert regeneration_commands(run, MARKDOWN) == [
        "mfbench suite 'my suite.toml' --out 'my runs'", "mfbench report own --out 'my runs' --md"
    ]  # fmt: skip


def test_the_command_of_times_has_the_number_of_workers(write_run):
    run = write_run({("d", "A"): 0.5})
    protocol = completed(kind="timing", metrics=run.metrics)
    run.meta = run.meta.model_copy(update=recorded(protocol))
    assert regeneration_commands(run, MARKDOWN)[0].endswith(" --jobs 2")


def test_a_mirror_is_named_without_its_place(write_run):
    for words, used, suite in [
        (["--data-dir", "/home/me/data", "--offline"], True, "mfbench suite own --offline --data-dir DIR"),
        (["--data-dir", "/home/me/data"], False, "mfbench suite own"),
        ([], True, "mfbench suite own --data-dir DIR"),  # as MFBENCH_DATA_DIR names it
        ([], False, "mfbench suite own"),
    ]:
        run = write_run({("d", "A"): 0.5}, command=["mfbench", "suite", "own", *words])
        run.meta = run.meta.model_copy(update={"used_mirror": used})
        assert regeneration_commands(run, MARKDOWN)[0] == suite
