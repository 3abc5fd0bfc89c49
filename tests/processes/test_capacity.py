"""Memory that this process may use: the machine's, or the smallest limit of its control groups."""

import psutil

from mfbench.processes.process import available_memory

TOTAL = psutil.virtual_memory().total


def tree(root, groups, limits):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for path, text in limits.items():
        file = root / "sys/fs/cgroup" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def test_the_smallest_limit_of_the_groups_and_their_parents_counts(subtests, tmp_path):
    for number, (groups, limits, memory) in enumerate(
        [
            ("0::/\n", {}, TOTAL),
            ("0::/\n", {"memory.max": "max\n"}, TOTAL),
            ("0::/\n", {"memory.max": "1000000\n"}, 1_000_000),
            ("0::/job/step\n", {"job/memory.max": "2000000\n", "job/step/memory.max": "max\n"}, 2_000_000),
            ("0::/job/step\n", {"job/memory.max": "2000000", "job/step/memory.max": "3000000"}, 2_000_000),
            ("0::/../other\n", {"memory.max": "5000"}, 5000),
            ("4:memory:/job\n0::/\n", {"memory/job/memory.limit_in_bytes": "4096\n"}, 4096),
            ("4:cpu,memory:/host/path\n", {"memory/memory.limit_in_bytes": "8192\n"}, 8192),
            ("4:memory:/\n", {"memory/memory.limit_in_bytes": "9223372036854771712\n"}, TOTAL),
            ("3:cpuset:/job\n", {"memory.max": "77", "memory/job/memory.limit_in_bytes": "77"}, TOTAL),
            ("nonsense\n", {"memory.max": "77"}, TOTAL),
            ("0::/\n", {"memory.max": "-1\n"}, TOTAL),
        ]
    ):
        with subtests.test(groups=groups, limits=limits, memory=memory):
            assert available_memory(tree(tmp_path / str(number), groups, limits)) == memory


def test_a_system_without_control_groups_has_the_memory_of_the_machine(tmp_path):
    assert available_memory(tmp_path) == TOTAL
