import threading

import pytest

from mfbench_margin._quadratic import layout


@pytest.mark.parametrize(
    ("n", "n_threads", "n_parts"), [(10, 1, 1), (10, 4, 1), (layout.MANY_SAMPLES, 1, layout.PARTS)]
)
def test_few_samples_are_one_part_whatever_the_threads(n, n_threads, n_parts):
    assert layout.in_parts(lambda part, of: (part, of), n, n_threads) == [(part, n_parts) for part in range(n_parts)]


def test_parts_of_many_samples_run_side_by_side():
    both = threading.Barrier(2, timeout=30)

    def work(part, n_parts):
        if part < 2:
            both.wait()  # with one thread the first part would wait in vain
        return part

    assert layout.in_parts(work, layout.MANY_SAMPLES, 2) == list(range(layout.PARTS))
