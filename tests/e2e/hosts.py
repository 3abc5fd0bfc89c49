"""A whole host in a temporary folder: a plugin and a suite in a few lines of text, and the real command line."""

from __future__ import annotations

import gzip
import hashlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from forked_commands import CommandServer


@dataclass
class Host:
    """A folder with plugins and suites of its own, in which ``mfbench`` runs."""

    folder: Path
    server: CommandServer
    new_folder: Callable[[], Path]
    plugins: list[str] = field(default_factory=list)
    writes_pages: bool = False  # a page takes longer than most of these runs
    in_process: bool = False  # commands execute trials themselves, without workers

    def plugin(self, name: str, text: str) -> Path:
        """Write a plugin module that the next command loads."""
        path = self.folder / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        if name not in self.plugins:
            self.plugins.append(name)
        return path

    def suite(self, text: str, name: str = "own.toml") -> Path:
        """Write a suite file."""
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return path

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the commands."""
        environment = {**os.environ, "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        # What the tests themselves import must be what the commands run, installed or not.
        paths = [str(self.folder), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        environment["MFBENCH_LOAD_PLUGINS"] = ",".join(["all", *self.plugins])
        return environment

    def command(self, *words: str) -> list[str]:
        """Return the words that start the command line."""
        return [sys.executable, "-m", "mfbench", *self._completed(words)]

    def _completed(self, words: tuple[str, ...]) -> tuple[str, ...]:
        return (*words, "--no-page") if words[:1] == ("suite",) and not self.writes_pages else words

    def start(self, *words: str, **options: object) -> subprocess.Popen[str]:
        """Start a command and return at once."""
        # A shell that runs tests in the background lets them ignore Ctrl-C; these commands must not inherit that.
        options.setdefault("preexec_fn", lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        return subprocess.Popen(
            self.command(*words),
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,  # type: ignore[call-overload]
        )

    def run(self, *words: str, timeout: float = 600) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; the timeout only tells a hung one from a busy machine."""
        words = self._completed(words)
        output = self.new_folder()
        return self.server.run(words, self.folder, self.environment, output, timeout, in_process=self.in_process)

    def run_process(self, *words: str, timeout: float = 600, **options: object) -> subprocess.CompletedProcess[str]:
        """Run a command to its end in an interpreter of its own."""
        process = self.start(*words, **options)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def run_folder(self, suite: str = "own") -> Path:
        """Return the one run folder of a suite."""
        (folder,) = (self.folder / "reports" / suite).iterdir()
        return folder


def mirror(folder: Path, name: str = "pebbles") -> Path:
    """Write a mirror with one dataset."""
    folder.mkdir()
    text = "u,v,class\n" + "".join(f"{i % 2},{i},{'ab'[i % 2]}\n" for i in range(40))
    data = gzip.compress(text.encode(), mtime=0)
    (folder / f"{name}.csv.gz").write_bytes(data)
    (folder / "index.toml").write_text(
        f"[{name}]\nn_samples = 40\nn_features = 2\nclass_counts = {{ a = 20, b = 20 }}\ncategorical = []\n"
        f'license = "CC0"\nsource = "the beach"\nsha256 = "{hashlib.sha256(data).hexdigest()}"\n'
    )
    return folder


@pytest.fixture(scope="session")
def command_server():
    server = CommandServer()
    yield server
    server.close()


@pytest.fixture
def host(tmp_path: Path, tmp_path_factory, command_server) -> Host:
    return Host(tmp_path, command_server, lambda: tmp_path_factory.mktemp("output"))


SUITE = """
    [suite]
    name = "own"
    seed = 7
    [protocol]
    folds = 3
    repeats = 1
    inner_folds = 2
    timeout = {timeout}
    memory = {memory}
    [profiles.quick]
    folds = 3
    [[datasets]]
    use = ["iris", "wine"]
    {methods}
"""


@pytest.fixture
def small_suite():
    """Return a function that writes a suite over two datasets with the classifiers given as {label: expression}."""

    def write(host: Host, methods: dict[str, str], timeout: float = 60, memory: float = 0) -> Path:
        tables = "\n".join(f'[[methods]]\nlabel = "{k}"\nclassifier = "{v}"' for k, v in methods.items())
        return host.suite(textwrap.dedent(SUITE).format(timeout=timeout, memory=memory, methods=tables))

    return write


SLOW_PLUGIN = """
    import time
    from pathlib import Path
    from mfbench import ClassifierSpec, hookimpl
    from sklearn.naive_bayes import GaussianNB

    class Slow(GaussianNB):
        def __init__(self, seconds=0.05):
            super().__init__()
            self.seconds = seconds

        def fit(self, X, y):
            time.sleep(self.seconds)
            Path("fitting").touch()
            while Path("hold").exists():
                time.sleep(0.02)
            return super().fit(X, y)

    @hookimpl
    def mfbench_classifiers():
        return [ClassifierSpec(name="slow", summary="A slow one", factory="slow_plugin:Slow")]
"""
