"""The splitters that this plugin registers; they are loaded whatever ``MFBENCH_LOAD_PLUGINS`` says."""

from __future__ import annotations

from mfbench import SplitterSpec, hookimpl

_SPLITS = "mfbench_splitters.splits"


@hookimpl
def mfbench_splitters() -> list[SplitterSpec]:
    """Return the built-in splitters."""
    return [
        SplitterSpec(
            name="stratified",
            summary="Folds with the class proportions of the whole",
            factory=f"{_SPLITS}:Stratified",
            resampling="folds",
        ),
        SplitterSpec(name="plain", summary="Random folds", factory=f"{_SPLITS}:Plain", resampling="folds"),
        SplitterSpec(
            name="grouped",
            summary="Folds of whole groups, with nearly as many groups each",
            factory=f"{_SPLITS}:Grouped",
            needs="groups",
            resampling="folds",
        ),
        SplitterSpec(
            name="stratified-grouped",
            summary="Folds of whole groups, with class proportions as equal as the groups permit",
            factory=f"{_SPLITS}:StratifiedGrouped",
            needs="groups",
            resampling="folds",
        ),
        SplitterSpec(
            name="leave-one-group-out",
            summary="One fold for each group",
            factory=f"{_SPLITS}:LeaveOneGroupOut",
            needs="groups",
            is_random=False,
            inner="stratified-grouped",
            resampling="folds",
        ),
        SplitterSpec(
            name="forward-chaining",
            summary="Blocks in order of time; each is tested by a fit on all earlier ones",
            factory=f"{_SPLITS}:ForwardChaining",
            needs="time",
            is_random=False,
        ),
        SplitterSpec(
            name="predefined",
            summary="The folds, or the one test part, that a column names",
            factory=f"{_SPLITS}:Predefined",
            needs="split",
            is_random=False,
            resampling="folds",
        ),
        SplitterSpec(
            name="bootstrap",
            summary="Rows drawn with replacement; those never drawn are tested (out of bag, which is pessimistic)",
            factory=f"{_SPLITS}:Bootstrap",
            inner="stratified-grouped",
        ),
    ]
