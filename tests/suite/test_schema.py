"""The shape of a suite: its JSON Schema, its defaults, and that it is data alone."""

import json
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError
from toy_protocols import SPECS, completed

import mfbench
from mfbench.suite import schema
from mfbench.suite.loading import COMMON, parse_suite
from mfbench.suite.schema import Method, Profile, ProtocolSettings, Range, SizeRange, Suite, standard_profiles
from mfbench.suite.validation_messages import describe

TABLES = [
    value
    for value in vars(schema).values()
    if isinstance(value, type) and issubclass(value, BaseModel) and value not in (BaseModel, schema.Part)
]
MINIMAL = {
    "suite": {"name": "x"},
    "datasets": [{"use": ["iris"]}],
    "methods": [{"label": "a", "classifier": "knn"}],
}


def test_every_table_refuses_unknown_keys_and_does_not_change():
    for table in TABLES:
        # Keys of a plugin's protocol are compared with those of its spec when a suite is loaded.
        own_keys = table in (ProtocolSettings, Profile)
        assert table.model_config["extra"] == ("allow" if own_keys else "forbid")
        assert table.model_config["frozen"]
        assert table.model_config["strict"]


def test_every_key_is_described():
    for table in [table for table in TABLES if table is not Suite]:
        assert [name for name, field in table.model_fields.items() if not field.description] == []


def test_the_json_schema_names_every_table_and_forbids_other_keys():
    exported = json.loads(json.dumps(Suite.model_json_schema()))
    assert set(exported["properties"]) == {"suite", "protocol", "profiles", "parts", "datasets", "methods", "report"}
    assert set(exported["required"]) == {"suite", "datasets", "methods"}
    tables = [exported, *exported["$defs"].values()]
    open_ones = {table["title"] for table in tables if table["additionalProperties"] is not False}
    assert open_ones == {"ProtocolSettings", "Profile"}
    assert exported["$defs"]["Method"]["required"] == ["label"]


def test_a_minimal_suite_takes_the_defaults():
    suite = Suite.model_validate(MINIMAL)
    assert suite.protocol == ProtocolSettings()
    protocol = suite.protocol.completed(SPECS["repeated-cv"], None, ["accuracy"])
    assert (protocol.folds, protocol.repeats, protocol.inner_folds, protocol.selection) == (10, 1, 5, "nested")
    assert (suite.report.test, suite.report.alpha, suite.report.reference) == ("corrected-t", 0.05, None)
    assert suite.methods[0].top == "positive"
    assert suite.methods[0].tune is None


def test_the_keys_of_the_schema_are_those_of_the_built_in_protocols():
    keys = {key for kind in SPECS.values() for key in kind.keys}
    assert set(ProtocolSettings.model_fields) == keys | set(COMMON) | {"curve", "max_rows"}
    for kind in SPECS.values():
        assert set(kind.published) <= set(kind.keys)
        for form in ("sound", "published"):
            ProtocolSettings.model_validate(kind.values(form))
        for changes in kind.profiles.values():
            assert set(changes) <= set(kind.keys)
            Profile.model_validate(changes)


def test_an_unset_key_is_as_the_form_has_it():
    published = completed(form="published", repeats=3)
    assert (published.folds, published.repeats, published.selection) == (10, 3, "per-dataset")
    assert completed(Profile(form="sound"), form="published").selection == "nested"
    assert completed(Profile(form="published"), form="published", selection="nested").selection == "nested"


def test_a_profile_changes_keys_of_the_protocol_alone():
    assert set(Profile.model_fields) <= set(ProtocolSettings.model_fields)
    for kind in SPECS:
        assert set(standard_profiles(SPECS[kind])) == {"quick", "standard", "full"}


def test_a_profile_has_the_protocols_limits():
    allowed = {name: field.metadata for name, field in ProtocolSettings.model_fields.items()}
    assert {name: field.metadata for name, field in Profile.model_fields.items()} == {
        name: allowed[name] for name in Profile.model_fields
    }


def test_rules_for_a_subset():
    for top in ["positive", "all", "all-weighted", 1, 50, 0.01, 1.0]:
        data = {**MINIMAL, "methods": [{"label": "a", "selector": "s", "classifier": "knn", "top": top}]}
        found = Suite.model_validate(data).methods[0].top
        assert (type(found), found) == (type(top), top)


def test_no_rules_for_a_subset():
    for top in ["most", 0, -1, 0.0, 1.01, True, [1], float("nan")]:
        data = {**MINIMAL, "methods": [{"label": "a", "selector": "s", "classifier": "knn", "top": top}]}
        with pytest.raises(ValidationError):
            Suite.model_validate(data)


def test_labels_fit_a_table():
    for label in ["", " a", "a ", "x" * 25, "a\nb"]:
        with pytest.raises(ValidationError):
            Suite.model_validate({**MINIMAL, "methods": [{"label": label, "classifier": "knn"}]})


def test_the_name_of_a_suite_is_safe_as_a_folder():
    for name in ["Own", "a b", "a/b", "..", "a--b", ""]:
        with pytest.raises(ValidationError):
            Suite.model_validate({**MINIMAL, "suite": {"name": name}})


@pytest.mark.parametrize("key", ["timeout", "memory"])
def test_limits_are_finite(key):
    with pytest.raises(ValidationError):
        Suite.model_validate({**MINIMAL, "protocol": {key: float("inf")}})


def test_numbers_that_cannot_be_computed_with():
    for grid in [
        {"first": 1, "last": float("inf"), "count": 3},
        {"first": float("nan"), "last": 3, "count": 3},
        {"first": 1, "last": 10**400, "count": 3},
        {"first": 1, "last": 10**400, "count": 3, "spacing": "log"},
        {"first": -1.7e308, "last": 1.7e308, "count": 3},
        [16**5000],
        [[1, -(16**5000)]],
        [1, [{"deep": [2**63]}]],
    ]:
        method = {"label": "a", "classifier": "knn", "tune": {"k": grid}}
        data = {**MINIMAL, "methods": [method]}
        with pytest.raises(ValidationError) as caught:
            Suite.model_validate(data)
        lines = describe(caught.value, Suite, data)
        assert (
            len(lines) == 1
            and lines[0].startswith("methods[0].tune.k")
            and "expected" in lines[0]
            and len(lines[0]) < 300
        )


def test_numbers_of_64_bits_are_fine():
    method = {"label": "a", "classifier": "knn", "tune": {"k": [2**63 - 1, -(2**63), [True, 1e308]]}}
    assert Suite.model_validate({**MINIMAL, "methods": [method]}).methods[0].tune == method["tune"]
    assert Range(first=-(2**63), last=2**63 - 1, count=2).values() == [-(2**63), 2**63 - 1]


def test_a_whole_number_is_a_number_but_a_text_is_not():
    assert Suite.model_validate({**MINIMAL, "protocol": {"timeout": 5}}).protocol.timeout == 5.0
    with pytest.raises(ValidationError):
        Suite.model_validate({**MINIMAL, "protocol": {"timeout": "5"}})


SHIPPED = sorted((Path(mfbench.__file__).parents[1] / "suites").glob("*.toml"))


def test_shipped_suites_are_valid_and_named_as_their_file():
    for path in SHIPPED:
        text = path.read_text(encoding="utf-8")
        suite = parse_suite(text, path.name)
        assert suite.suite.name == path.stem == tomllib.loads(text)["suite"]["name"]


def test_all_features_have_one_form_in_a_curve():
    """Else equal curves would be different runs."""
    assert Method(label="A", curve=[1, 2, 1.0]).curve == Method(label="A", curve=[1, 2, "all"]).curve == [1, 2, "all"]
    assert Method(label="A", curve=[0.5, 1]).curve == [0.5, 1]
    spread = SizeRange(first=0.5, last=1.0, count=3)
    assert spread == SizeRange(first=0.5, last="all", count=3) and spread.last == "all"
    with pytest.raises(ValidationError, match="'all' is listed twice"):
        Method(label="A", curve=["all", 1.0])
