"""Build the site: ``python docs/site/build.py build/site``.

Every document keeps its place in the repository, so that a link that works on a code host works on the site. The
documents are copied to a temporary folder, where the made pages are written beside them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

from mfbench import load_run
from mfbench.base.files import write_text
from mfbench.host.registry import load_registry
from mfbench.report.pages import page_of
from mfbench.report.present import rendered
from mfbench_claims.board import board_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REPAIRS = {
    '<summary><span class="toctree-toggle"': '<summary aria-label="Pages below"><span class="toctree-toggle"',
    'role="doc-biblioentry"': 'role="listitem"',
}
sys.path.insert(0, str(HERE))
from pages import BOARD, PAGE, additions, claims, made_pages, report_files  # noqa: E402


def main(out: str, *arguments: str) -> int:
    """Build the site.

    Parameters
    ----------
    out : str
        Folder of the site.
    *arguments : str
        Further arguments of ``sphinx-build``.

    Returns
    -------
    int
        Exit code; every warning is an error.
    """
    with tempfile.TemporaryDirectory() as name:
        source = Path(name)
        collect(source)
        code = int(build_main(["-q", "-W", "--keep-going", "-c", str(HERE), *arguments, str(source), out]))
    if code == 0:
        for page in Path(out).rglob("*.html"):
            page.write_text(accessible(page.read_text(encoding="utf-8")), encoding="utf-8")
        shutil.copyfile(Path(out, "README.html"), Path(out, "index.html"))
        for folder, claim in claims().items():
            command = f"mfbench report {claim.relative_to(ROOT).as_posix()} --html"
            write_text(Path(out, "reports", folder, PAGE), page_of(load_run(claim), load_registry(), command))
        write_text(Path(out, "reports", BOARD), rendered(board_of(ROOT / "reports"), "html"))
        shutil.rmtree(Path(out, ".doctrees"), ignore_errors=True)  # Sphinx's own notes
    return code


def accessible(html: str) -> str:
    """Return a page with what Sphinx and its theme leave out for screen readers.

    Parameters
    ----------
    html : str
        A page as Sphinx writes it.

    Returns
    -------
    str
        A switch of the navigation has a name, and the entries of a list of references are entries of a list.
    """
    for there, better in REPAIRS.items():
        html = html.replace(there, better)
    return html


def collect(folder: Path) -> None:
    """Write the sources of the site.

    Parameters
    ----------
    folder : Path
        Empty.
    """
    documents = [
        path
        for path in (ROOT / "docs").rglob("*")
        if path.suffix in (".md", ".png", ".svg") or path.parent.name == "examples"
    ]
    documents += [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "CITATION.cff")]
    for path in [*documents, *(path for files in report_files().values() for path in files)]:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for name, text in made_pages().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name, text in additions().items():
        path = folder / name
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0] + ".")
    parser.add_argument("out", metavar="DIR", help="folder of the site, such as build/site")
    asked, more = parser.parse_known_args()
    sys.exit(main(asked.out, *more))
