"""References: each form becomes a value of its kind, and nothing odd is accepted."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbench.data.reference import (
    FileReference,
    ImportReference,
    MirrorReference,
    OpenMLReference,
    OpenMLSuiteReference,
    RegisteredReference,
    UCIReference,
    parse_reference,
)
from mfbench.errors import UsageError


def test_kinds(subtests):
    for text, kind in [
        ("wine", RegisteredReference),
        ("led-7(n_samples=100)", RegisteredReference),
        ("file:my.csv", FileReference),
        ("openml:iris@1", OpenMLReference),
        ("uci:53", UCIReference),
        ("mirror:sonar", MirrorReference),
        ("import:patients", ImportReference),
        ("openml-suite:OpenML-CC18", OpenMLSuiteReference),
    ]:
        with subtests.test(text=text, kind=kind):
            reference = parse_reference(text)
            assert type(reference) is kind and reference.text == text


def test_identity_does_not_depend_on_spelling(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert parse_reference("a(y=1, x=2)").identity == parse_reference("a(x=2, y=1)").identity
    assert parse_reference("a()").identity == parse_reference("a").identity
    assert parse_reference("file:a.csv").identity == parse_reference("file:./a.csv", folder=tmp_path).identity


def test_columns_are_kept():
    reference = parse_reference("openml:61", target="class", categorical=["a", "b"])
    assert (reference.target, reference.categorical) == ("class", ("a", "b"))
    assert parse_reference("file:a.csv", categorical="a").categorical == ("a",)
    assert parse_reference("file:a.csv", folder=Path("x")).path == Path("x/a.csv")


def test_a_file_has_a_name():
    with pytest.raises(UsageError, match=r"cannot read 'file:': write it like file:patients\.csv"):
        parse_reference("file:")


def test_how_a_table_is_read_is_part_of_its_key():
    assert UCIReference("1").key == "uci:1"
    assert UCIReference("1", categorical=()).key != "uci:1"


def test_what_is_neither_a_number_nor_a_name(subtests):
    for prefix, names in {
        "openml:": ["", "..", ".", "../61", "a/b", "a b", "x@", "x@0", "x@y", "0", "é", "a\n"],
        "openml-suite:": ["", "../1", "a b", "a/b"],
        "uci:": ["", "0", "-1", "iris", "../53", "5 3", str(10**12)],
    }.items():
        for name in names:
            with subtests.test(prefix=prefix, name=name), pytest.raises(UsageError, match=r"cannot read .*: write it"):
                parse_reference(prefix + name)


@given(st.sampled_from(["openml:", "uci:", "mirror:", "import:", "openml-suite:"]), st.text(max_size=12))
def test_no_accepted_name_can_leave_a_folder_or_an_address(prefix, rest):
    try:
        parse_reference(prefix + rest)
    except UsageError:
        return
    assert rest and not set(rest) & set("/\\?#&%:\0 \n") and rest.isascii()
    assert prefix.startswith("openml") or ".." not in rest
