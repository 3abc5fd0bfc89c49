"""A loop over cases within one test, written as a parametrised test is."""

import functools
import inspect


def in_turn(names, cases):
    """Call the test once for each case, as `pytest.mark.parametrize` does, but as one test.

    For cases that take milliseconds: thousands of tests take longer to collect, distribute and report than to run. A
    report of a failure names the case, and the cases after it are not run. All cases share the fixtures.
    """
    names, cases = [name.strip() for name in names.split(",")], list(cases)
    assert cases

    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def test(**fixtures):
            for case in cases:
                values = dict(zip(names, case if len(names) > 1 else (case,), strict=True))
                try:
                    function(**fixtures, **values)
                except Exception as error:
                    error.add_note("in the case of " + ", ".join(f"{name} = {value}" for name, value in values.items()))
                    raise

        others = [parameter for name, parameter in signature.parameters.items() if name not in names]
        test.__signature__ = signature.replace(parameters=others)
        return test

    return decorate
