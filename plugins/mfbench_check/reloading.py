"""Load the dataset of a check without the host's own validation, in this process or in a new one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from mfbench.api import load_dataset
from mfbench.data.lookup import content_hash
from mfbench.errors import MfbenchError, describe_error, printable
from mfbench.host.expressions import Plugin
from mfbench.host.factories import build
from mfbench.host.registry import load_registry
from mfbench.model.specs import Dataset
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.subjects import Opened, Subject

_MARK = "content hash: "  # distinguishes the hash from a loader's own output
# Standard input is empty while a plugin is imported, so the request is an argument, which the plugin cannot consume.
_CODE = (
    "import json, sys; request = json.loads(sys.argv[1]); sys.path[:] = request['path']; "
    "from mfbench_check.reloading import main; main(request)"
)


def load(subject: Opened) -> Dataset:
    """Return the dataset as its loader returns it."""
    if not subject.spec.embedded:
        raise NotApplicableError("it has no loader: its data come from a mirror or a repository")
    try:
        bases = {name: load_dataset(text) for name, text in subject.spec.bases.items()}
        data = build(subject.registered, bases)
    except MfbenchError as error:
        raise CheckFailedError("a dataset", str(error), snippet(subject)) from error
    except Exception as error:
        raise CheckFailedError("a dataset", f"the loader raised {describe_error(error)}", snippet(subject)) from error
    if not isinstance(data, Dataset):
        name = type(data).__name__
        line = f"assert isinstance(data, mfbench.Dataset), {name!r}"
        raise CheckFailedError("a mfbench.Dataset", f"the loader returned a {name}", snippet(subject, line))
    return data


def snippet(subject: Opened, *lines: str) -> str:
    """Return Python code that loads a dataset as `load` does and demonstrates a failure."""
    bases = ", ".join(f"{name!r}: mfbench.load_dataset({text!r})" for name, text in subject.spec.bases.items())
    head = [
        "import mfbench, numpy as np",
        "from mfbench.host.factories import build",
        "from mfbench.host.registry import load_registry",
        f"load = lambda: build(load_registry().entry('dataset', {subject.name!r}), {{{bases}}})",
        "data = load()",
    ]
    return "\n".join([*head, *lines])


def hash_elsewhere(subject: Opened, hash_seed: int) -> str:
    """Return the content hash of a dataset in a new process."""
    plugins = [subject.subject.plugin]
    request = {
        "path": sys.path,
        "name": subject.name,
        "plugins": [asdict(plugin) for plugin in plugins],
    }
    done = subprocess.run(
        [sys.executable, "-c", _CODE, json.dumps(request)],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    hashes = [line.removeprefix(_MARK) for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if done.returncode or not hashes:
        last = printable((done.stderr.strip().splitlines() or [""])[-1])
        raise CheckFailedError("the dataset in a new process", f"exit code {done.returncode}: {last}")
    return hashes[-1]


def main(request: dict[str, Any]) -> None:
    """Print the content hash of a dataset; runs in the new process."""
    plugin = Plugin(**request["plugins"][0])
    opened = Opened(Subject("dataset", request["name"], plugin), load_registry(exactly=[plugin]))
    sys.stdout.write(f"\n{_MARK}{content_hash(load(opened))}\n")
