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
        ({"runs": ["a"], "form_of_figures": "pdf"}, "--format is the form of the files of --figures: name a folder"),
        ({"runs": ["a"], "opens": True, "as_json": True}, "--open and --figures stand alone"),
        ({"runs": ["a"], "opens": True, "full": True}, "--open and --figures stand alone"),
        ({"runs": ["a"], "opens": True, "figures": "x"}, "--open and --figures stand alone"),
        ({"runs": ["a"], "figures": "x", "statistics": True}, "--open and --figures stand alone"),
    ],
)
def test_options_that_do_not_fit(options, reason, tmp_path):
    with pytest.raises(UsageError, match=reason):
        report(**options, out=tmp_path)
