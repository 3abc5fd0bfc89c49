import subprocess
import sys

from mfbench_check.catalog import GROUPS, Check, all_checks, by_needs


def check(name, *needs):
    return Check(name, "edges", (), len, needs)


def test_checks_come_group_by_group():
    groups = [one.group for one in all_checks()]
    assert sorted(groups, key=list(GROUPS).index) == groups


def test_every_need_is_a_check():
    ids = {one.id for one in all_checks()}
    assert {name for one in all_checks() for name in one.needs} <= ids


def test_a_check_comes_after_those_that_it_needs():
    order = [one.id for one in by_needs([check("c", "b"), check("a"), check("b", "a", "absent")])]
    assert order == ["a", "b", "c"]


def test_otherwise_the_order_is_kept():
    assert [one.id for one in by_needs([check("c"), check("b", "d"), check("a"), check("d")])] == ["c", "d", "b", "a"]


def test_no_check_is_lost():
    assert {one.id for one in by_needs(all_checks())} == {one.id for one in all_checks()}


def test_the_order_does_not_depend_on_what_was_imported_first():
    code = (
        "import mfbench_check.checks.global_state; from mfbench_check.catalog import all_checks; "
        "print(*(check.id for check in all_checks()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [check.id for check in all_checks()]
