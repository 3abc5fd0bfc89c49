#!/usr/bin/env python3
"""Repeat the numeric tests with the kernels that OpenBLAS, NumPy and numba choose on other processors.

Results may not depend on the processor beyond rounding. All of these tests must pass with the kernels of the oldest
processor, which differ most, and those of iterative solvers, which amplify rounding, with every kernel that the machine
can execute but does not choose itself. Left out are tests that hardly compare numbers. Arguments go to pytest.
"""

import os
import platform
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

METHODS = ("baselines", "controlled", "information", "margin", "relevance", "similarity", "sqpfw")
TESTS = [f"tests/{folder}" for folder in ("stats", *METHODS)]
WITH_ALL_TESTS = "Nehalem"
SOLVERS = ["tests/baselines", "tests/margin/test_odd_input.py", "tests/margin/test_nca_diagonal.py"]
LEFT_OUT = "not docstring and not plugin and not refuses and not invalid"

# Instruction sets that each kernel of OpenBLAS needs, by their names in /proc/cpuinfo.
NEEDS = {
    "Nehalem": {"sse4_2"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
# Features that each processor has, of those that NumPy selects kernels by: prefixes of their names.
HAVE_AVX2 = ("SSE", "SSSE", "POPCNT", "AVX2", "F16C", "FMA3", "X86_V3")
FEATURES = {
    "Nehalem": ("SSE", "SSSE", "POPCNT"),
    "Haswell": HAVE_AVX2,
    "Zen": HAVE_AVX2,
    "SkylakeX": (*HAVE_AVX2, "AVX512F", "AVX512CD", "AVX512_SKX", "X86_V4"),
}


def flags_of_the_processor() -> set[str]:
    """Return the instruction sets that the processor reports; an empty set unless it is an x86 under Linux."""
    path = Path("/proc/cpuinfo")
    if platform.machine() not in ("x86_64", "AMD64") or not path.is_file():
        return set()
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), set())


def features_to_disable(core: str) -> list[str]:
    """Return the features that NumPy would use here and that the named processor lacks.

    NumPy refuses names of features that it does not dispatch by, or that the processor does not have.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
        except ImportError:  # NumPy 1
            from numpy.core._multiarray_umath import __cpu_dispatch__, __cpu_features__
    avx = () if core == "Nehalem" else ("AVX",)
    return [
        name
        for name in __cpu_dispatch__
        if __cpu_features__[name] and name not in avx and not name.startswith(FEATURES[core])
    ]


def chosen_by_the_machine() -> set[str]:
    """Return the kernels that OpenBLAS chooses here: those of the usual run."""
    import scipy.linalg  # noqa: F401 - loads a BLAS of its own
    from threadpoolctl import threadpool_info

    return {library.get("architecture", "") for library in threadpool_info()}


def main() -> int:
    """Run the tests once for each kernel; return 1 if any run failed."""
    flags, own = flags_of_the_processor(), chosen_by_the_machine()
    failed = []
    # Functions that numba compiles for a generic processor are the same for every kernel.
    with tempfile.TemporaryDirectory() as cache:
        for core, needs in NEEDS.items():
            if not needs <= flags:
                missing = ", ".join(sorted(needs - flags)) if flags else "an x86 processor under Linux"
                print(f"{core}: skipped, because it needs {missing}", flush=True)
                continue
            if core in own:
                print(f"{core}: skipped, because the usual run has it", flush=True)
                continue
            settings = {
                "OPENBLAS_CORETYPE": core,
                "NPY_DISABLE_CPU_FEATURES": " ".join(features_to_disable(core)),
                "NUMBA_CPU_NAME": "generic",
                "NUMBA_CACHE_DIR": cache,
            }
            print(*(f"{name}='{value}'" for name, value in settings.items()), flush=True)
            command = [sys.executable, "-m", "pytest", "-n", "logical", "--dist", "loadgroup", "-p", "no:cacheprovider"]
            command += [*(TESTS if core == WITH_ALL_TESTS else SOLVERS), "-k", LEFT_OUT, *sys.argv[1:]]
            if subprocess.run(command, env={**os.environ, **settings}, check=False).returncode:
                failed.append(core)
    if failed:
        print(f"failed with the kernels for {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
