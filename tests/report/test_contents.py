"""The contents of a report: which sections each kind of run has, and the sections of plugins."""

import json
import types

from mfbench import Cell, Chart, Section, Table, hookimpl
from mfbench.host.registry import load_registry
from mfbench.report.contents import CONTENTS, kind_of, report_of
from mfbench.report.render.files import to_json, to_markdown


def titles(report):
    return [section.title for section in report.sections if section.has_content]


def registry_with(hook):
    return load_registry(only=[], extra=[("own", types.SimpleNamespace(mfbench_report_sections=hookimpl(hook)))])


class TestKinds:
    def test_scores_come_first_and_remarks_last(self, small_run):
        assert kind_of(small_run) == "comparison"
        names = titles(report_of(small_run))
        assert names[0].startswith("Accuracy, percent")
        assert names[1:] == ["Other scores", "Methods, best mean first", "Across 1 dataset", "Remarks"]

    def test_calibration_displays_the_rejections_and_no_scores(self, write_run):
        cells = {(f"two(seed={i})", m): [0.5, 0.6, 0.4, 0.5, 0.7] for i in range(4) for m in "AB"}
        run = write_run(cells, report={"equal": [["A", "B"]]})
        run.decisions = lambda dataset, method: [[True, False]] * 5
        assert kind_of(run) == "calibration"
        assert [name.split(" ")[0] for name in titles(report_of(run))] == ["Rejected", "Methods,"]

    def test_a_run_without_trials_has_remarks_alone(self, write_run):
        run = write_run({}, left_out=[("gone", "no network")])
        assert kind_of(run) == "empty"
        assert titles(report_of(run)) == ["Remarks"]

    def test_everything_has_the_data_of_every_section_once(self, small_run):
        sections = report_of(small_run, everything=True).sections
        keys = [key for section in sections for key in section.data]
        assert len(sections) == len(CONTENTS) + 4, "of protocols, of plugins that failed, and remarks"
        assert len(keys) == len(set(keys))

    def test_sections_on_request(self, write_run):
        run = write_run({(f"d{i}", m): 0.5 + k / 10 for i in range(3) for k, m in enumerate("AB")})
        more = [name for name in titles(report_of(run, statistics=True)) if name not in titles(report_of(run))]
        assert [name.split(" ")[0] for name in more] == ["Ranks", "Time:", "Features"]


class TestPlugins:
    def test_a_section_of_a_plugin_stands_before_the_remarks(self, small_run):
        def costs(run):
            rows = [[Cell(method), Cell("1")] for method in run.methods]
            yield Section("Costs", [Table(["method", "euro"], rows)], data={"costs": lambda: {"A": 1}})

        report = report_of(small_run, registry_with(costs))
        assert titles(report)[-2:] == ["Costs", "Remarks"]
        assert "| A | 1 |" in to_markdown(report)
        assert '"plugin_data": {\n    "own": {\n      "costs"' in to_json(report)

    def test_a_plugin_that_fails_is_named_in_a_note(self, small_run):
        for hook, reason in [
            (lambda run: 1 / 0, "ZeroDivisionError: division by zero"),
            (lambda run: ["text"], "TypeError: it returned 'text', expected Section objects"),
            (lambda run: [Section("s", [Table(["a"], [[Cell("1"), Cell("2")]])])], "ValueError: a row has 2 cells"),
            (lambda run: [Section("s", notes="note")], "ValueError: notes must be a list of strings"),
        ]:
            report = report_of(small_run, registry_with(hook))
            (note,) = report.sections[-2].notes
            assert note.startswith("plugin 'own' of own: mfbench_report_sections failed with ")
            assert reason in note
            assert titles(report)[0].startswith("Accuracy") and titles(report)[-1] == "Remarks"

    def test_a_hook_that_changes_its_run_does_not_change_the_report(self, small_run):
        def careless(run):
            run.outcomes["accuracy"] *= 100
            run.datasets["n_samples"] = 0
            return [Section("s", notes=[str(run.reference)])]

        before = to_json(report_of(small_run, everything=True))
        report = report_of(small_run.replace(reference="A"), registry_with(careless), everything=True)
        assert "A" in next(section.notes for section in report.sections if section.title == "s")
        after = json.loads(to_json(report_of(small_run, registry_with(careless), everything=True)))
        assert after | {"plugin_data": {}} == json.loads(before)

    def test_a_chart_that_cannot_be_drawn_is_replaced_by_a_sentence(self, small_run):
        chart = Chart("broken", "Broken", text=lambda width: 1 / 0)
        section = Section("s", charts=[chart], data={"x": lambda: 1 / 0})
        report = report_of(small_run, registry_with(lambda run: [section]))
        assert "plugin 'own' of own: chart 'broken' failed with ZeroDivisionError" in to_markdown(report)
        assert "plugin 'own' of own: data failed with ZeroDivisionError" in to_json(report)

    def test_data_that_json_cannot_hold_are_replaced_by_a_sentence(self, small_run):
        section = Section("s", data={"x": lambda: {1, 2}, "y": lambda: 3})
        text = to_json(report_of(small_run, registry_with(lambda run: [section])))
        assert "plugin 'own' of own: data failed with TypeError: Object of type set" in text
        assert '"y": 3' in text
