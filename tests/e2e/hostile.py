"""An honest plugin and a hostile one, which does what careless or hostile authors would write."""

import textwrap

from sites import build

HONEST = {
    "honest/__init__.py": "",
    "honest/plugin.py": """
        from mfbench import DatasetSpec, SelectorSpec, hookimpl

        @hookimpl
        def mfbench_selectors():
            return [SelectorSpec(name="spread", summary="Distance of class means", factory="honest.selector:Spread")]

        @hookimpl
        def mfbench_datasets():
            return [DatasetSpec(name="two-blobs", summary="Two classes", loader="honest.data:blobs")]
    """,
    "honest/selector.py": """
        import numpy as np
        from sklearn.base import BaseEstimator

        class Spread(BaseEstimator):
            def __init__(self, noise=0.01, random_state=None):
                self.noise, self.random_state = noise, random_state

            def fit(self, X, y):
                means = np.array([X[y == code].mean(axis=0) for code in np.unique(y)])
                noise = np.random.default_rng(self.random_state).normal(size=X.shape[1])
                self.feature_importances_ = np.ptp(means, axis=0) + self.noise * noise
                return self
    """,
    "honest/data.py": """
        import numpy as np
        from mfbench import Dataset

        def blobs(n_samples=60):
            y = np.arange(n_samples) % 2
            X = np.random.default_rng(0).normal(size=(n_samples, 4))
            X[:, 0] += y
            return Dataset(
                name="two-blobs", X=X, y=y.astype(np.int64), class_names=("no", "yes"), feature_names=tuple("abcd"),
                categorical=np.zeros(4, bool),
            )
    """,
}

MISCHIEF = {
    "mischief/__init__.py": "",
    "mischief/nothing.py": "VALUE = 1",
    "mischief/plugin.py": """
        from mfbench import ClassifierSpec, DatasetSpec, SelectorSpec, hookimpl

        # Colours, the title of a terminal, markup of rich, HTML and Markdown, and a formula of a spreadsheet.
        DECORATION = "=1+1\\x1b[31m\\x1b]0;owned\\x07\\r\\u202e[bold]b[/bold]<script>alert(1)</script>|`c`"
        SELECTORS = "Poisons Infinite Wraps"
        CLASSIFIERS = (
            "Surrogate Stranger Slips Exits Detaches Doubles Babbles Hoards Crashes Closes Fills Stays Decorates"
        )

        @hookimpl
        def mfbench_selectors():
            for name in SELECTORS.split():
                yield SelectorSpec(name=name.lower(), summary=name, factory=f"mischief.methods:{name}")
            yield SelectorSpec(name="relieff", summary="a name that is taken", factory="mischief.methods:Poisons")
            yield SelectorSpec(name="list-grid", summary="", factory="mischief.methods:Poisons", grid=[1])
            yield SelectorSpec(name="no-summary", summary=None, factory="mischief.methods:Poisons")
            yield SelectorSpec(name="leaves", summary="ends the process that imports it", factory="mischief.leaves:X")

        @hookimpl
        def mfbench_classifiers():
            for name in CLASSIFIERS.split():
                yield ClassifierSpec(name=name.lower(), summary=name, factory=f"mischief.methods:{name}")
            yield ClassifierSpec(name="knn", summary="a name that is taken", factory="mischief.methods:Stranger")
            yield ClassifierSpec(name="exits", summary="registered twice", factory="mischief.methods:Surrogate")
            yield ClassifierSpec(name="breaks", summary="its import raises", factory="mischief.breaks:X")
            yield ClassifierSpec(name="adorned", summary=DECORATION, factory="mischief.methods:Decorates")

        @hookimpl
        def mfbench_datasets():
            return [
                DatasetSpec(name="twins", summary="two features of one name", loader="mischief.data:twins"),
                DatasetSpec(name="leaving", summary="ends the process", loader="mischief.leaves:load"),
            ]

        @hookimpl
        def mfbench_suites():
            raise GeneratorExit(DECORATION)

        def mfbench_report_sections(run):  # the mark of a hook is missing
            return []
    """,
    "mischief/leaves.py": """
        import os
        os._exit(0)
    """,
    "mischief/breaks.py": """
        from mischief.plugin import DECORATION
        raise RuntimeError(f"broken import {DECORATION}")
    """,
    "mischief/data.py": """
        import numpy as np
        from mfbench import Dataset

        def twins():
            y = np.arange(60) % 2
            return Dataset(
                name="twins", X=np.random.default_rng(0).normal(size=(60, 4)), y=y.astype(np.int64),
                class_names=("no", "yes"), feature_names=("a", "a", "b", "c"), categorical=np.zeros(4, bool),
            )
    """,
    "mischief/methods.py": """
        import ctypes, os, resource, signal, subprocess, sys, time, warnings
        import numpy as np
        from sklearn.base import BaseEstimator
        from sklearn.dummy import DummyClassifier

        class Selector(BaseEstimator):
            def fit(self, X, y):
                self.feature_importances_ = np.arange(X.shape[1], dtype=float)
                self.act()
                return self

            def act(self):
                pass

        class Poisons(Selector):
            \"\"\"Works, and leaves its process in a state in which every other method would be wrong.\"\"\"

            def act(self):
                from sklearn.neighbors import KNeighborsClassifier
                from sklearn.feature_selection import _univariate_selection
                import sklearn.neighbors
                KNeighborsClassifier.predict = lambda self, X: np.zeros(len(X), dtype=np.int64)
                sys.modules["honest.selector"] = None
                np.random.default_rng = lambda seed=None: np.random.Generator(np.random.PCG64(0))
                np.argsort = lambda *arguments, **keywords: np.zeros(1, dtype=int)
                np.random.seed(0)
                os.environ["PYTHONPATH"] = "/nowhere"
                os.chdir("/")
                warnings.simplefilter("error")

        class Infinite(Selector):
            def act(self):
                self.feature_importances_[0] = np.inf

        class Wraps(Selector):
            \"\"\"Raises its own memory limit again.\"\"\"

            def act(self):
                hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
                resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))

        class Surrogate(DummyClassifier):
            def fit(self, X, y):
                raise ValueError("not text: \\udcff")

        class Stranger(DummyClassifier):
            def predict(self, X):
                return np.full(len(X), 99)

        class Slips(DummyClassifier):
            def fit(self, X, y):
                os._exit(0)

        class Exits(DummyClassifier):
            def fit(self, X, y):
                raise SystemExit(0)

        class Detaches(DummyClassifier):
            \"\"\"Leaves a process of a session of its own behind.\"\"\"

            def fit(self, X, y):
                subprocess.Popen(["sleep", os.environ["MISCHIEF_SLEEP"]], start_new_session=True)
                return super().fit(X, y)

        class Doubles(DummyClassifier):
            \"\"\"Forks, and both processes go on with the trial.\"\"\"

            def fit(self, X, y):
                os.fork()
                return super().fit(X, y)

        class Babbles(DummyClassifier):
            def fit(self, X, y):
                for _ in range(100):
                    os.write(1, b"a" * 1_000_000)
                return super().fit(X, y)

        class Hoards(DummyClassifier):
            kept = []

            def fit(self, X, y):
                self.kept.append(np.ones(20_000_000))
                return super().fit(X, y)

        class Crashes(DummyClassifier):
            def fit(self, X, y):
                ctypes.string_at(0)

        class Closes(DummyClassifier):
            \"\"\"Closes the connection to the process that waits for the result.\"\"\"

            def fit(self, X, y):
                os.closerange(0, 4096)
                return super().fit(X, y)

        class Fills(DummyClassifier):
            def fit(self, X, y):
                self.meal_ = [np.ones(50_000_000) for _ in range(10_000)]

        class Stays(DummyClassifier):
            \"\"\"Does not return, nor does what it starts, and both ignore a request to end.\"\"\"

            def fit(self, X, y):
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                subprocess.Popen(["sleep", os.environ["MISCHIEF_SLEEP"]], start_new_session=True)
                while True:
                    time.sleep(1)

        class Decorates(DummyClassifier):
            def fit(self, X, y):
                from mischief.plugin import DECORATION
                os.write(2, DECORATION.encode())
                raise type(DECORATION, (ValueError,), {})(DECORATION)
    """,
}


def install(folder, name, files):
    """Lay out an installed distribution: its package and the metadata that Python finds its entry point by."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(textwrap.dedent(text))
    information = folder / f"{name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[mfbench]\n{name} = {name}.plugin\n")
    (information / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    return folder


def build_wheel(folder, name, files, plugin="", points=""):
    """Build a wheel of some files; ``plugin`` is the module of its entry point, ``points`` are tables of others."""
    for path, text in files.items():
        (folder / "src" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "src" / path).write_text(textwrap.dedent(text))
    package = next(iter(files)).partition("/")[0]
    (folder / "pyproject.toml").write_text(
        f'[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "{name}"\nversion = "1.0"\n'
        f'[project.entry-points.mfbench]\n{name} = "{plugin or f"{package}.plugin"}"\n{points}'
        f'[tool.hatch.build.targets.wheel]\npackages = ["src/{package}"]\n'
    )
    return build(folder, folder / "dist")
