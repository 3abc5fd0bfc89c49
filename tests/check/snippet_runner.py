"""Make the check named for each broken method of a module, run the snippet of its failure, and print what that raises.

Check and snippet have a process of their own: many methods change theirs. All are forked from this one, which has
imported what they need but has called none of them.
"""

import importlib
import json
import os
import sys
import traceback

from mfbench_check.catalog import all_checks


def snippet_of(module, name, kind, check):
    """Return the snippet of a failure; "" if the check passes."""
    from opening import failure, opened

    error = failure(check, opened(module, name, kind))
    return "" if error is None else error.snippet


def exception_of(snippet):
    """Return the name of the exception that a snippet raises."""
    try:
        exec(compile(snippet, "<snippet>", "exec"), {})
    except BaseException as raised:
        return type(raised).__name__
    return "nothing"


def in_child(function, *args):
    """Return what a function returns in a forked process; None if the process ends."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, json.dumps(function(*args)).encode())
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.readline()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def main(module, names):
    """Print the number of lines and the exception of each snippet by name."""
    os.environ["MFBENCH_LOAD_PLUGINS"] = module
    all_checks()
    for needed in ("sklearn.neighbors", "mfbench.api", "mfbench.testing"):
        importlib.import_module(needed)
    outcomes = {}
    for name, kind, _, check, _ in importlib.import_module(module).BANK:
        if name in names:
            snippet = in_child(snippet_of, module, name, kind, check)
            outcomes[name] = snippet and [len(snippet.splitlines()), in_child(exception_of, snippet)]
    print("\n" + json.dumps(outcomes))


if __name__ == "__main__":
    main(sys.argv[1], set(sys.argv[2:]))
