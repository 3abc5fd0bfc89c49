import pickle

import numpy as np

from mfbench.api import load_dataset
from mfbench.host.registry import load_registry
from mfbench.run.workers.job import read_arrays
from mfbench.suite.loading import load_suite
from mfbench_gate.gate.measure import plan_gate
from mfbench_gate.gate.side import staged


def test_files_of_a_gate_and_their_end():
    registry = load_registry()
    plan = plan_gate(load_suite("uci", registry, "quick"), registry, ["iris", "1NN"])
    with staged(plan.suite) as start:
        folder = start.keywords["order"].parent
        # Only mfbench itself: whatever else lies beside it must come from the environment of the side.
        assert sorted(entry.name for entry in (folder / "harness").iterdir()) == [
            "mfbench",
            "mfbench_audit",
            "mfbench_gate",
            "mfbench_metrics",
            "mfbench_protocols",
            "mfbench_race",
            "mfbench_select",
            "mfbench_splitters",
            "mfbench_tasks",
        ]
        assert (folder / "harness" / "mfbench_gate" / "gate" / "replicate.py").is_file()
        loaded, job = pickle.loads((folder / "order.pickle").read_bytes())
        X, y, _ = read_arrays(job, "iris")
        assert job.methods == {}
        assert [method.label for method in loaded.suite.methods] == ["1NN"]
    data = load_dataset("iris")
    kept = data.y < 2 if len(y) == 100 else slice(None)
    assert np.array_equal(X, data.X[kept])
    assert not folder.exists()
