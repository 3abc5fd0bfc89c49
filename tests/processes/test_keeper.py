"""The keeper's requests name functions; `test_child.py` tests what it does with them."""

import math

import pytest

from mfbench.processes.keeper import import_target


def test_a_target_is_imported_by_name():
    assert import_target("math:factorial") is math.factorial
    with pytest.raises(AttributeError):
        import_target("math:no_such_function")
