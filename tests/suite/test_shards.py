"""Shards of a plan: their numbers, files, names and digests."""

from pathlib import Path

import pytest

from mfbench.errors import UsageError
from mfbench.suite.plan import Shard, digest_of, parse_shard


def test_what_is_not_a_shard_is_one_sentence():
    for text in ["0/3", "4/3", "a/b", "3", "", "1/0", "-1/3", "1/3/5", " 1/3", "1/1e3", "²/3", "1/9999999"]:
        with pytest.raises(UsageError, match="is not a shard: write its number and how many there are, such as 1/"):
            parse_shard(text)


def test_the_first_and_the_last_shard():
    assert parse_shard("1/1") == (1, 1) and parse_shard("10/10") == (10, 10)


def test_the_file_of_a_shard():
    assert parse_shard("batch/shards/3.json") == Path("batch/shards/3.json")


def test_the_digest_is_that_of_keys_and_their_order():
    assert len({digest_of(keys) for keys in (["a", "b"], ["b", "a"], ["ab"], ["a"], [])}) == 5


def test_the_folder_of_a_shard_is_named_after_the_run():
    shard = Shard(3, 10, "quick-1a2b3c4d", "0", 100, ())
    assert shard.folder_name == "quick-1a2b3c4d-shard-3-of-10"
