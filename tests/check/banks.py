"""The specs of a bank of broken methods: rows of (name, kind, class, the check that must find it, fields)."""

from mfbench import ClassifierSpec, RegressorSpec, SelectorSpec


def specs_of(module, bank, kind):
    """Return the specs of one kind of a bank, to which its fields belong."""
    spec_class = {"selector": SelectorSpec, "classifier": ClassifierSpec, "regressor": RegressorSpec}[kind]
    rows = [(name, method, fields) for name, one, method, _, fields in bank if one == kind]
    return [
        spec_class(**{"name": name, "summary": name, "factory": f"{module}:{method.__name__}", **fields})
        for name, method, fields in rows
    ]
