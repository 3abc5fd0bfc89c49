"""What the clients of all repositories share: the choice of the label column, and the card."""

import pytest

from mfbench.data.remote.download import Received
from mfbench.data.remote.repository import RemoteTable, card_of, choose_target
from mfbench.errors import UnknownNameError, UsageError


def test_the_label_column():
    assert choose_target("it", ["a"], ["a", "b"], None) == "a"
    assert choose_target("it", [], ["a", "b"], "b") == "b"
    assert choose_target("it", ["a"], [], "unlisted") == "unlisted"
    with pytest.raises(UnknownNameError, match=r"unknown target column 'c'.*in it"):
        choose_target("it", ["a"], ["a", "b"], "c")
    with pytest.raises(UsageError, match=r"it declares no target: name one of its columns as 'target' \(a, b\)"):
        choose_target("it", [], ["a", "b"], None)
    with pytest.raises(UsageError, match="it declares 2 targets: name one of 'a', 'b' as 'target'"):
        choose_target("it", ["a", "b"], ["a", "b"], None)


@pytest.mark.parametrize("md5", [None, "published"])
def test_the_card(toy_registry, md5):
    from mfbench.data.catalog import load

    data = load("blobs", toy_registry)
    table = RemoteTable(
        what="it", url="https://me:secret@x.org/a.csv", extension=".csv", columns=[], target="y", categorical=[],
        drop=[], md5=md5,
    )  # fmt: skip
    card = card_of(data, Received(3, "sha", "md5"), table)
    assert (card["url"], card["checksum"], card["target"]) == ("https://x.org/a.csv", "sha", "y")
    assert (card["n_samples"], card["n_classes"]) == (data.n_samples, data.n_classes)
    assert ("md5" in card) == (md5 is not None)
