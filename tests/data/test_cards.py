"""Cards: each has a checksum of its own, and an unreadable one is still found by its file."""

import json

import pytest

from mfbench.data.cache import Cache
from mfbench.data.cards import card_file, key_of, read_card, write_card
from mfbench.errors import DataError


def test_a_card_comes_back(tmp_path):
    path = tmp_path / "cards" / card_file("openml:61")
    write_card(path, {"key": "openml:61", "facts": {"n_samples": 3}})
    assert read_card(path, "openml:61")["facts"] == {"n_samples": 3}
    assert key_of(path) == "openml:61"
    with pytest.raises(FileNotFoundError):
        read_card(tmp_path / "no.json", "openml:62")


def test_an_edited_card_is_refused(tmp_path):
    path = tmp_path / card_file("openml:61")
    write_card(path, {"key": "openml:61"})
    card = json.loads(path.read_text())
    path.write_text(json.dumps({**card, "key": "openml:62"}))
    with pytest.raises(DataError, match="does not match its checksum"):
        read_card(path, "openml:61")
    assert key_of(path) == path.name


def test_a_card_that_cannot_be_read_can_be_cleared_by_its_file(tmp_path):
    folder = tmp_path / "cache"
    (folder / "cards").mkdir(parents=True)
    (folder / "cards" / card_file("mirror:iris")).write_text("{")
    (folder / "cards" / card_file("mirror:wine")).write_text("{")
    cache = Cache(folder)
    assert cache.broken_cards() == sorted([card_file("mirror:iris"), card_file("mirror:wine")])
    assert cache.clear([card_file("mirror:iris")]) == [card_file("mirror:iris")]
    assert cache.broken_cards() == [card_file("mirror:wine")]
    assert not cache.is_empty()
