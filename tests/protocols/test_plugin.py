"""The specs of the protocols: their scores, how their trials run, and the facts that a run records."""

from pkgutil import resolve_name

import pytest
from toy_protocols import SPECS, completed, design_of

from mfbench.run.trial.curve import TrialRunner
from mfbench.suite.protocols import make_protocol
from mfbench_protocols.plugin import DETECTION_METRICS


def test_rounds_are_scored_by_all_detection_scores():
    assert tuple(DETECTION_METRICS) == SPECS["ground-truth"].metrics == tuple(SPECS["ground-truth"].own_scores)


@pytest.mark.parametrize("kind", SPECS)
def test_a_protocol_names_how_its_trials_run(kind):
    spec = SPECS[kind]
    assert issubclass(resolve_name(spec.runner), TrialRunner)
    assert callable(resolve_name(spec.resolver))
    assert make_protocol(spec, spec.values("sound"), 0).predicts == spec.predicts


@pytest.mark.parametrize("kind", SPECS)
def test_a_run_records_what_its_report_needs(kind):
    settings = completed(kind=kind)
    protocol, design = make_protocol(SPECS[kind], settings.model_dump(), 0), design_of(settings)
    assert list(design.coordinates()) == list(protocol.coordinates())
    assert (design.kind, design.description) == (kind, protocol.describe())
    assert type(design).model_validate_json(design.model_dump_json()) == design
