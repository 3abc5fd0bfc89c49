"""The bundle commands: ``mfbench bundle`` writes bundles, and ``mfbench verify`` verifies them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mfbench.base.text import shell_command
from mfbench.cli.entry import outlive_output, write_document
from mfbench.cli.options import DEFAULT_OUT, DataDir, Offline, Out, make_console, print_line
from mfbench.errors import UsageError


def bundle(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Run folders, folders of runs, or names of suites."),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The zip file; or a folder, in which each run has SUITE/claim.zip."
        ),
    ] = Path("claim.zip"),
    out: Out = DEFAULT_OUT,
) -> None:
    """Write a run as one file with which anyone can verify its results.

    It has the suite, the plan, all results, versions, and hashes of data and code, but no paths below your home.
    """
    from mfbench.base.text import counted
    from mfbench_claims.api import bundle_runs

    outlive_output()
    console = make_console()
    for written in bundle_runs(runs, output, out):
        missing = written.planned - written.results
        note = f"; {missing:,} planned trials have no result" if missing else ""
        print_line(console, f"Wrote {written.path}: {counted(written.results, 'result')}{note}.")
        for remark in written.remarks:
            print_line(console, remark)
        print_line(console, f"To verify it: {shell_command(['mfbench', 'verify', str(written.path)])}")


def verify(
    claim: Annotated[Path, typer.Argument(metavar="FILE", help="A file that 'mfbench bundle' wrote.")],
    sample: Annotated[int | None, typer.Option(min=1, help="Number of trials to run again. [default: 50]")] = None,
    every: Annotated[bool, typer.Option("--all", help="Run all trials again.")] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the sample. [default: one that nobody can foresee]")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Worker processes; 0: one per processor.")] = 0,
    data_dir: DataDir = None,
    offline: Offline = False,
    files: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder with the files of 'file:' datasets, which a bundle does not have."),
    ] = None,
    import_classes: Annotated[
        bool,
        typer.Option(
            "--import-classes",
            help="Import classes that the bundle names by their import path. Whoever made it chose the names.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Run a sample of a bundle's trials again, and compare the results.

    Exit code 0: all compared results are equal; 1: something differs, was dropped or has no result, or a verdict would
    change; 2: the file is refused; 3: nothing could be compared.
    """
    from mfbench.base.text import json_document
    from mfbench.report.progress import Silent, follow
    from mfbench_claims.api import SAMPLE, verify_bundle
    from mfbench_claims.verification import verification_lines

    if every and sample is not None:
        raise UsageError("choose one of --sample and --all")
    outlive_output()
    console = make_console()
    display = Silent() if as_json else follow(console)
    try:
        verification = verify_bundle(
            claim,
            sample=None if every else sample or SAMPLE,
            seed=seed,
            jobs=jobs,
            data_dir=data_dir,
            offline=offline,
            files=files,
            import_classes=import_classes,
            observer=display,
        )
    finally:
        display.close()
    if as_json:
        write_document(json_document(json.dumps(verification.to_dict(), indent=2, ensure_ascii=False)) + "\n")
    else:
        for line in verification_lines(verification):
            print_line(console, line)
    raise typer.Exit(verification.exit_code)
