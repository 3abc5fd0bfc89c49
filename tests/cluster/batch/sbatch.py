"""A stand-in for Slurm: an ``sbatch`` that runs what is submitted at once, one task after the other.

It reads the options that the scripts of mfbench have, from ``#SBATCH`` lines and from the command line, as Slurm does:
the file names of ``--output``, the tasks of ``--array``, the signal to the script alone, and the dependencies of jobs.
The environment variable ``SLURM_FAKE`` names a folder with its records; ``TERMINATE`` is ``TASK:N``: the task gets the
signal as soon as its store has N results.
"""

import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path


def options_of(script, words):
    """Return the options: those of the command line, then those of the script."""
    lines = [line[len("#SBATCH ") :] for line in Path(script).read_text().splitlines() if line.startswith("#SBATCH ")]
    options = {}
    for text in [*words, *(word for line in lines for word in shlex.split(line))]:
        name, _, value = text.removeprefix("--").partition("=")
        options.setdefault(name, value)
    return options


def results(task):
    """Return how many results the store of a task has."""
    for store in Path("runs").glob(f"*/*-shard-{task}-of-*/results.sqlite"):
        try:
            with sqlite3.connect(store) as db:
                return db.execute("SELECT COUNT(*) FROM trials").fetchone()[0]
        except sqlite3.Error:
            break
    return 0


def run(script, environment, output, task, warning):
    """Run a script as a job; return its exit code and the seconds from the signal to the end."""
    with output.open("wb") as log:
        process = subprocess.Popen(["bash", script], env=environment, stdout=log, stderr=subprocess.STDOUT)
        if warning is None:
            return process.wait(), 0.0
        deadline = time.monotonic() + 120
        while results(task) < warning and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)  # B: only the process that the script has become
        return process.wait(timeout=60), time.monotonic() - begin


def main():
    *words, script = sys.argv[1:]
    fake = Path(os.environ["SLURM_FAKE"])
    number = len(list(fake.glob("job-*"))) + 1
    options = options_of(script, words)
    assert "parsable" in options
    if "dependency" in options:
        kind, _, other = options["dependency"].partition(":")
        assert kind == "afterany" and (fake / f"job-{other}").is_file(), options["dependency"]
    record = [repr(sorted(options.items()))]
    match = re.fullmatch(r"1-(\d+)", options.get("array", ""))
    terminate = [int(part) for part in os.environ.get("TERMINATE", "0:0").split(":")]
    for task in range(1, int(match[1]) + 1) if match else [0]:
        environment = {**os.environ, "SLURM_JOB_ID": str(number)}
        if task:
            environment |= {"SLURM_ARRAY_JOB_ID": str(number), "SLURM_ARRAY_TASK_ID": str(task)}
        output = Path(options["output"].replace("%A", str(number)).replace("%a", str(task)).replace("%j", str(number)))
        warning = None
        if task and task == terminate[0]:
            assert options["signal"] == "B:TERM@30"
            warning = terminate[1]
        code, seconds = run(script, environment, output, task, warning)
        record.append(f"{task} {code} {seconds:.1f}")
    (fake / f"job-{number}").write_text("\n".join(record))
    print(f"{number};cluster")


if __name__ == "__main__":
    main()
