"""The tasks that this plugin registers. Importing this module loads neither NumPy nor scikit-learn."""

from mfbench import TaskSpec, hookimpl


@hookimpl
def mfbench_tasks() -> list[TaskSpec]:
    """Return the tasks."""
    return [
        TaskSpec(
            name="classification",
            summary="One of several classes, predicted by a classifier",
            metrics=("accuracy", "balanced_accuracy"),
            guess="mfbench_tasks.targets:most_frequent",
            strata="mfbench_tasks.targets:codes",
        ),
        TaskSpec(
            name="regression",
            summary="A number, predicted by a regressor",
            target="numbers",
            learner="regressor",
            metrics=("r2", "rmse", "spearman"),
            guess="mfbench_tasks.targets:mean",
            description="a number as the target",
        ),
    ]
