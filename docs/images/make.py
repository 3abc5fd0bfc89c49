"""Draw the picture of the README: the top of a run's page in headless Chromium.

Run: ``python docs/images/make.py reports/uci/standard-... docs/images/uci.png``. Needs the extra ``browser`` and a
Chromium, whose path may be in ``MFBENCH_CHROMIUM``.
"""

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from mfbench import load_run
from mfbench.report.present import write_page

WIDTH, HEIGHT = 1280, 1080


def main(run: str, picture: str) -> None:
    """Write the page of a run and a picture of its top."""
    page_file = write_page(load_run(run)).resolve()
    chromium = os.environ.get("MFBENCH_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as session:
        browser = session.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(page_file.as_uri() + "#sort=0.ascending&theme=light")
        page.screenshot(path=picture)
        browser.close()
    sys.stdout.write(f"{Path(picture)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
