"""`mfbench suite` and `mfbench report`; tests/e2e/ runs them from outside."""

import pytest

from mfbench.cli.runs import report
from mfbench.errors import UsageError


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"runs": ["a"], "as_json": True, "as_md": True}, "choose one of"),
        ({}, "name either a run or, with --published, a table"),
        ({"runs": ["a"], "published": "b"}, "name either a run or"),
        ({"runs": ["a"], "output": "x"}, "--output needs one of"),
        ({"runs": ["nowhere"]}, "holds no run"),
    ],
)
def test_options_that_do_not_fit(options, reason, tmp_path):
    with pytest.raises(UsageError, match=reason):
        report(**options, out=tmp_path)
