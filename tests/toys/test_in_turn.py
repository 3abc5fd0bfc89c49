import pytest
from in_turn import in_turn


def test_every_case_is_called_and_the_one_that_fails_is_named():
    seen = []

    @in_turn("first, second", [(1, 2), (3, 4), (5, 6)])
    def add(first, second, limit):
        seen.append(first)
        assert first + second < limit

    add(limit=20)
    assert seen == [1, 3, 5]
    with pytest.raises(AssertionError) as caught:
        add(limit=7)
    assert caught.value.__notes__ == ["in the case of first = 3, second = 4"]
