"""The JSON form has every field, and is valid whatever the values."""

import json
from dataclasses import fields

from mfbench_gate.comparison import ComparedCell, Comparison
from mfbench_gate.display import to_json


def test_every_field_is_in_the_file(comparison):
    content = json.loads(to_json(comparison))
    assert content["headline"] == "Worse: 1 of 4 cells, undecided: 2"
    assert content["exit_code"] == 4
    assert set(content) == {"headline", "exit_code", *(field.name for field in fields(Comparison))}
    assert set(content["cells"][0]) == {field.name for field in fields(ComparedCell)}
    assert content["cells"][2]["ratio"] is None
    assert content["cells"][0]["head_values"] == [0.011, 0.012, 0.013]
    assert content["cells"][0]["verdict"] == "worse"
    assert content["changes"] == [{"method": "1NN", "dataset": "wine", "n_rows": 178, "n_changed": 3}]


def test_it_is_valid_with_hostile_names_and_infinite_numbers(hostile):
    text = to_json(hostile)
    text.encode("utf-8")
    content = json.loads(text)
    assert (content["cells"][0]["ratio"], content["seconds"]) == (None, None)
