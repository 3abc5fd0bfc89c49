"""Damaged bundles: each is refused with one sentence, or has the results of the intact one."""

import random
import sys
import zipfile
from pathlib import Path

import pytest

from mfbench.api import load_run
from mfbench.errors import UsageError
from mfbench.run.store.store import Store
from mfbench_claims.reading import opened_bundles

sys.path.append(str(Path(__file__).parents[1] / "run"))
from forgery import members_of, sealed, write_zip
from small_claims import small_claim, small_run

__all__ = ["small_claim", "small_run"]  # fixtures
SIGNS = [b'"', b"[", b"]", b"{", b"}", b",", b"null", b"1e999", b"NaN", b"-1", b"../", b"\x00", b"\xff", b"9" * 400]


def damaged_file(content, rng):
    """Return the bytes of a zip file with bits, bytes or parts changed."""
    data = bytearray(content)
    kind = rng.randrange(4)
    for _ in range(rng.choice([1, 3, 30])):
        place = rng.randrange(len(data))
        if kind == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place] = rng.randrange(256)
        elif kind == 2:
            del data[place : place + rng.randrange(1, 50)]
        else:
            data[place:place] = data[rng.randrange(len(data)) :][: rng.randrange(1, 50)]
    return bytes(data)


def damaged_content(members, rng):
    """Return members of which one has other signs in places, with checksums that fit."""
    name = rng.choice([name for name in members if members[name] and name != "manifest.json"])
    data = bytearray(members[name])
    for _ in range(rng.choice([1, 1, 3])):
        place = rng.randrange(len(data))
        data[place : place + rng.choice([0, 1, 1, 8])] = rng.choice(SIGNS)
    return sealed({**members, name: bytes(data)})


def read(path):
    """Read everything of a bundle; return whether it was accepted."""
    try:
        with opened_bundles([path]) as (bundle,):
            run = load_run(bundle.folder)
            with Store(bundle.folder, read_only=True) as store:
                rows = list(store.rows())
            return run, rows
    except UsageError as error:
        message = str(error)
        assert message.startswith(f"{path} is refused as a bundle: ") and "\n" not in message and len(message) < 800
        return None


def same(one, two):
    # NaN and arrays are compared as text.
    return len(one) == len(two) and all(repr(first) == repr(second) for first, second in zip(one, two, strict=True))


def attack(claim, folder, seeds):
    content, members = claim.read_bytes(), members_of(claim)
    _, intact = read(claim)
    path = folder / "claim.zip"
    outcomes = set()
    for seed in seeds:
        rng = random.Random(seed)
        try:
            path.write_bytes(damaged_file(content, rng))
            answer = read(path)
            assert answer is None or same(answer[1], intact)
            outcomes.add("file refused" if answer is None else "file accepted")
            answer = read(write_zip(damaged_content(members, rng), path))
            outcomes.add("content refused" if answer is None else "content accepted")
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
    return outcomes


def test_damaged_bundles(small_claim, tmp_path):
    assert attack(small_claim, tmp_path, range(40)) >= {"file refused", "content refused"}
    assert zipfile.is_zipfile(small_claim)


@pytest.mark.nightly(reason="4,000 damaged bundles")
def test_many_damaged_bundles(small_claim, tmp_path):
    attack(small_claim, tmp_path, range(1000, 3000))
