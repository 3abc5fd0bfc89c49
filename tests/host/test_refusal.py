"""What a hook returns and cannot be used is refused with the reason."""

from mfbench import ExecutorSpec, SelectorSpec
from mfbench.host.registry import refusal


def test_a_spec_of_another_class_or_with_a_wrong_field_is_refused():
    spec = ExecutorSpec(name="a", summary="A", factory="m:F")
    assert refusal(spec, ExecutorSpec, "executor") == ""
    assert "expected SelectorSpec" in refusal(spec, SelectorSpec, "selector")
    wrong = ExecutorSpec(name="a", summary="A", factory="m:F", install=3)
    assert refusal(wrong, ExecutorSpec, "executor") == "executor 'a': install is 3, expected str"
