"""Cards of the cache: JSON files that describe an entry, each with its own checksum."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mfbench.base.whole_files import write_whole
from mfbench.errors import DataError

FORMAT = 1


def stem_of(key: str) -> str:
    """Return a file name for a key: readable, safe on every system, different for different keys."""
    words = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:40].strip("-")
    return f"{words}-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}".lstrip("-")


def card_file(key: str) -> str:
    """Return the name of a key's card file."""
    return f"{stem_of(key)}.json"


def key_of(path: Path) -> str:
    """Return the key that a card is for, or the name of its file if the card cannot be read."""
    with suppress(DataError):
        return str(read_card(path, path.name)["key"])
    return path.name


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode("ascii")).hexdigest()


def write_card(path: Path, body: Mapping[str, Any]) -> None:
    """Write a card with its checksum."""
    card = {"format": FORMAT, **body}
    text = json.dumps({**card, "checksum": _digest(card)}, indent=1) + "\n"
    write_whole(path, text.encode("ascii"), on_disk=True)


def read_card(path: Path, key: str) -> dict[str, Any]:
    """Return a card; raise FileNotFoundError if there is none, and `DataError` if it is damaged."""
    fault = f"cached dataset {key!r} is damaged: its card {path.name} "
    try:
        card = json.loads(path.read_bytes())
        checksum = card.pop("checksum")
    except FileNotFoundError:
        raise
    except NotADirectoryError:
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise DataError(f"{fault}cannot be read: {error.strerror or error}") from error
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise DataError(f"{fault}is not a card") from None
    if card.get("format") != FORMAT:
        raise DataError(
            f"{fault}has format {card.get('format')!r}, but this mfbench reads {FORMAT}: delete it with "
            "'mfbench datasets clear'"
        )
    if checksum != _digest(card):
        raise DataError(f"{fault}does not match its checksum")
    return dict(card)
