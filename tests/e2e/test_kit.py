"""A plugin author's way: a generated package, built, installed, tested and checked; and the package of yesterday."""

import json
import os
import re
import tarfile
import zipfile

import pytest
from sites import ROOT, Environment, build, stored_scaffolds

from mfbench import __version__
from mfbench_check.scaffold.render import PARTS, render, write

CURRENT = tuple(int(number) for number in re.findall(r"\d+", __version__)[:2])
# A package made by the template of this version or of the one before it.
PREVIOUS = max(version for version in stored_scaffolds() if version <= CURRENT)
NAME = "demo"


def stored():
    return json.loads(stored_scaffolds()[PREVIOUS].read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory, wheel):
    """Return a function that installs a package into an environment of its own: its project's folder, environment."""

    def install(files):
        folder = tmp_path_factory.mktemp("kit")
        write(files, folder / "project")
        environment = Environment(folder / "environment")
        environment.install(wheel, build(folder / "project", folder / "dist"))
        return folder / "project", environment

    return install


@pytest.fixture(scope="module", params=["this version", "the previous version"])
def package(request, installed):
    return installed(render(NAME) if request.param == "this version" else stored())


@pytest.mark.slow(reason="builds and installs two wheels")
@pytest.mark.parametrize(
    "words",
    [
        ["pytest", "-q", "-p", "no:cacheprovider"],
        ["mfbench", "check", NAME],
        ["mypy", "--cache-dir", os.devnull],
        ["ruff", "check", "--no-cache", "."],
        ["ruff", "format", "--check", "--no-cache", "."],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_package_as_generated_passes_its_own_checks(package, words):
    project, environment = package
    if words[0] in ("mypy", "ruff"):
        pytest.importorskip(words[0], reason=f"{words[0]} is not installed")
    done = environment.run(*words, folder=project)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow(reason="builds and installs two wheels")
@pytest.mark.sampled(1, reason="an environment for each part")
@pytest.mark.parametrize("part", PARTS)
def test_a_package_with_one_part_passes_its_own_tests(installed, part):
    project, environment = installed(render(NAME, [part]))
    for words in (["pytest", "-q", "-p", "no:cacheprovider"], ["mfbench", "check", NAME]):
        done = environment.run(*words, folder=project)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_stored_scaffold_is_that_of_the_previous_minor_version():
    """When the minor version changes, store the scaffold of the release before it: `python tests/e2e/sites.py`."""
    major, minor = CURRENT
    assert PREVIOUS in {(major, minor - 1), (major, minor)}, "python tests/e2e/sites.py, in the last release"
    version = re.search(r"^_commit: v(\d+)\.(\d+)\.", stored()[".copier-answers.yml"], re.MULTILINE)
    assert tuple(map(int, version.groups())) == PREVIOUS
    assert f'"mfbench>={PREVIOUS[0]}.{PREVIOUS[1]},<' in stored()["pyproject.toml"]


@pytest.mark.slow(reason="builds a wheel and a source distribution")
def test_the_template_is_in_the_distributions(tmp_path, wheel):
    (tmp_path / "sdist").mkdir()
    with tarfile.open(build(ROOT, tmp_path / "sdist", "sdist")) as archive:
        source = {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        binary = set(archive.namelist())
    scaffold = ROOT / "mfbench" / "scaffold"
    paths = {path for path in scaffold.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    names = {path.relative_to(ROOT).as_posix() for path in paths}
    assert names <= binary
    assert names | {"copier.yml"} <= source
