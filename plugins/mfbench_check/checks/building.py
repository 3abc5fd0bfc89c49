"""Contract of a spec: what it names can be built and fitted."""

from __future__ import annotations

from mfbench.errors import MfbenchError, describe_error
from mfbench_check.catalog import check
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError

ESTIMATORS = ("selector", "classifier")


@check("factory", group="contract", kinds=ESTIMATORS)
def can_be_built(subject: Opened) -> None:
    """The factory can be imported and called with the defaults of the spec."""
    try:
        subject.make()
    except MfbenchError as error:
        raise CheckFailedError("an estimator", str(error)) from error
    except Exception as error:
        raise CheckFailedError("an estimator", f"the factory raised {describe_error(error)}") from error


@check("fit", group="contract", kinds=ESTIMATORS, needs=("factory",))
def can_be_fitted(subject: Opened) -> None:
    """`fit` accepts ordinary data and returns the estimator itself; a selector then has `feature_importances_`."""
    X, y = subject.sample()
    estimator = subject.make()
    try:
        returned = estimator.fit(X, y)
    except Exception as error:
        seen = f"fit raised {type(error).__name__}: {error}"
        raise CheckFailedError("a fit on ordinary data", seen, subject.snippet("method.fit(X, y)")) from error
    if returned is not estimator:
        raise CheckFailedError(
            "fit returns the estimator itself",
            f"it returned a {type(returned).__name__}",
            subject.snippet("assert method.fit(X, y) is method"),
        )
    if subject.kind == "selector" and not hasattr(estimator, "feature_importances_"):
        raise CheckFailedError(
            "the attribute feature_importances_ after fit",
            "there is no such attribute",
            subject.snippet("method.fit(X, y)", "assert hasattr(method, 'feature_importances_')"),
        )
