"""The commands that write jobs for batch systems."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mfbench.base.console import make_console, print_line
from mfbench.base.text import shell_command
from mfbench.cli.options import PLAN_OPTIONS, SuiteName, keywords, taking

app = typer.Typer(
    help="Write jobs for a batch system.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _batch() -> None:
    """Write jobs for a batch system."""


@app.command("slurm")
@taking(PLAN_OPTIONS)
def slurm(
    name: SuiteName,
    into: Annotated[Path, typer.Option("--into", metavar="DIR", help="Folder of the batch; it is created.")],
    time: Annotated[str, typer.Option(metavar="TIME", help="Time limit of a job, as Slurm reads it.")] = "2:00:00",
    shards: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=100_000, help="Number of shards. [default: by --shard-time]")
    ] = None,
    shard_time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Predicted time of a shard, such as 30m. [default: half of --time]"),
    ] = None,
    mem: Annotated[str, typer.Option(metavar="SIZE", help="Memory of a job. [default: the cluster's]")] = "",
    cpus: Annotated[int, typer.Option(min=1, help="Processors of a job.")] = 1,
    sbatch_option: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="Option of sbatch, such as --partition=long. Can be repeated."),
    ] = None,
    **options: Any,
) -> None:
    """Write an array of Slurm jobs for the trials of a suite that have no result yet, and a job that merges them."""
    from mfbench.api import Request, prepare_suite
    from mfbench.base.text import counted
    from mfbench.report.cells import seconds
    from mfbench.report.progress import Downloads
    from mfbench.report.sections.remarks import left_out
    from mfbench.run.forecast.order import parse_duration
    from mfbench_cluster.batch.slurm import USUAL_LARGEST_ARRAY, SlurmOptions, slurm_seconds, write_batch

    planned = None if shard_time is None else parse_duration(shard_time)
    asked = SlurmOptions(time, cpus, mem, tuple(sbatch_option or ()), shards, planned)
    request = Request(name, **keywords(options))
    console = make_console()
    with Downloads(console) as downloads:
        plan, folder, registry = prepare_suite(request, follower=downloads)
    batch = write_batch(plan, folder, registry, asked, into, ["mfbench", *sys.argv[1:]], strict=request.strict)
    for line in left_out(plan.left_out, plan.unavailable, name):
        print_line(console, line)
    print_line(console, f"{counted(batch.n_trials, 'trial')}; {batch.n_stored} have a result in {folder}")
    if not batch.seconds:
        print_line(console, "Nothing to run.")
        return
    number, longest = len(batch.seconds), max(batch.seconds)
    print_line(console, f"{counted(number, 'shard')} of about {seconds(longest)} each, predicted")
    if batch.earlier:
        print_line(console, "An earlier batch was replaced. What its shards have stored is kept; to merge it, run:")
        print_line(console, f"  mfbench merge {batch.earlier} {shell_command(['--into', str(folder)])}")
    if longest > slurm_seconds(time):
        print_line(console, "The prediction exceeds --time: jobs will be stopped, and continue when submitted again.")
    if number > USUAL_LARGEST_ARRAY:
        print_line(console, f"Many clusters limit an array to {USUAL_LARGEST_ARRAY} jobs; see --shards.")
    print_line(console, f"To submit them, run: {shell_command(['bash', str(into / 'submit.sh')])}")


def merge(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE...", help="Run folders, such as those of shards.")],
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Folder of the merged run; results are added to a run that it holds. [default: the whole run's]",
        ),
    ] = None,
) -> None:
    """Merge runs of one suite: the shards of a run, or any runs whose results belong together.

    Versions, data or results that contradict each other are refused. Merging again changes nothing.
    """
    from mfbench.base.text import counted
    from mfbench_cluster.api import merge_stores

    console = make_console()
    merged = merge_stores(stores, into)
    for remark in merged.remarks:
        print_line(console, remark)
    missing = merged.n_trials - merged.n_results
    state = f"{missing:,} of {merged.n_trials:,} trials have no result" if missing else "every trial has a result"
    print_line(console, f"Merged {counted(merged.n_stores, 'store')} into {merged.path}: {state}.")
    if merged.resume:
        print_line(console, f"To run what is missing: {merged.resume}")
    print_line(console, f"To show the report: {shell_command(['mfbench', 'report', str(merged.path)])}")
