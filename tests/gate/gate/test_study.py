"""The study of false alarms and power runs on the noise that was recorded on a real machine."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    spec = importlib.util.spec_from_file_location("gate_study", FOLDER / "gate_study.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "gate_study", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.judge, "interval", module.judge.interval)  # the study replaces it
    return module


@pytest.mark.slow(reason="replays eleven comparisons")
def test_equal_versions_raise_no_alarm_and_large_slowdowns_are_found(study, capsys, monkeypatch):
    monkeypatch.setattr(study, "FACTORS", (1.30,))
    study.replay_all(FOLDER / "gate_noise.json", n_cells=5, n_equal=6, n_slow=5, budget=1200.0)
    out = capsys.readouterr().out
    assert "| mfbench gate | 0 of 6 (0.0%) |" in out
    row = next(line for line in out.splitlines() if line.startswith("| 30% |"))
    assert float(row.split("|")[2].strip(" %")) >= 80.0
