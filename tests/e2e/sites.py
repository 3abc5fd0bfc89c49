"""Fresh environments with wheels of this project and of a plugin; all other packages come from this interpreter.

Before a minor version is released, ``python tests/e2e/sites.py`` stores the scaffold of its template for the tests of
the next version.
"""

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_TEXT = {"capture_output": True, "text": True}


def build(project, folder, target="wheel"):
    """Build a project and return the file."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (file,) = folder.iterdir()
    return file


class Environment:
    """An environment of its own, in which what is installed comes first."""

    def __init__(self, folder):
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        self.python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        shown = subprocess.run([self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], **_TEXT)
        shared = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
        # Python reads no further .pth files there, so an editable installation of this project stays out.
        Path(shown.stdout.strip(), "shared.pth").write_text("".join(f"{path}\n" for path in shared))

    def install(self, *wheels):
        """Install wheels and nothing that they require."""
        words = ["install", "--quiet", "--no-input", "--no-deps", "--no-index", "--ignore-installed", *wheels]
        done = subprocess.run([sys.executable, "-m", "pip", "--python", self.python, *words], **_TEXT)
        assert done.returncode == 0, done.stderr

    def run(self, *words, folder):
        """Run a module with arguments."""
        hidden = ("PYTHONPATH", "MFBENCH_LOAD_PLUGINS", "PYTEST_ADDOPTS")
        variables = {name: value for name, value in os.environ.items() if name not in hidden}
        command = [self.python, "-m", *words]
        return subprocess.run(command, cwd=folder, env={**variables, "NO_COLOR": "1"}, timeout=900, **_TEXT)


def stored_scaffolds():
    """Return the stored scaffolds: {(major, minor): file}."""
    files = Path(__file__).parent.glob("scaffold-*.json")
    return {tuple(int(number) for number in re.findall(r"\d+", file.stem)): file for file in files}


def store_scaffold():
    """Store the package that the template of this version makes."""
    from mfbench import __version__
    from mfbench_check.scaffold.render import render

    file = Path(__file__).with_name(f"scaffold-{'.'.join(__version__.split('.')[:2])}.json")
    file.write_text(json.dumps(render("demo"), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {file.relative_to(ROOT)}")


if __name__ == "__main__":
    store_scaffold()
