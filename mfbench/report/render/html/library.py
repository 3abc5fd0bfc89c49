"""The drawing library of the page, as one script."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from importlib.metadata import version

from mfbench.base.whole_files import write_whole
from mfbench.data.sources import default_cache
from mfbench.report.charts.drawing import drawing_engine


@cache
def drawing_library() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script; it sets ``window.vegaEmbed``."""
    # To put the script together takes seconds, so it is kept in the cache folder, with a checksum.
    kept = default_cache() / "page" / f"vega-{version('vl-convert-python')}.js"
    try:
        checksum, _, script = kept.read_text(encoding="utf-8").partition("\n")
        if checksum == _checksum(script):
            return script
    except (OSError, UnicodeDecodeError):
        pass  # not there yet, or damaged: made below
    script = _bundle()
    # A folder that cannot be written costs the next page these seconds, and nothing else.
    with contextlib.suppress(OSError):
        write_whole(kept, f"{_checksum(script)}\n{script}".encode())
    return script


def _bundle() -> str:
    script = str(drawing_engine().javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _checksum(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()
