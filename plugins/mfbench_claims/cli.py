"""The commands on bundles: ``mfbench bundle`` writes them, ``verify`` verifies them, ``board`` compares them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mfbench.base.console import make_console, print_line
from mfbench.base.text import shell_command
from mfbench.cli.entry import outlive_output, write_document
from mfbench.cli.forms import AsHtml, AsLatex, AsMarkdown, Output, chosen_form, deliver
from mfbench.cli.options import DEFAULT_OUT, AsJson, DataDir, Offline, Out, Text
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
    license_id: Annotated[
        str,
        typer.Option(
            "--license", metavar="ID", help="SPDX identifier of the license of the results, such as CC-BY-4.0."
        ),
    ] = "",
) -> None:
    """Write a run as one file with which anyone can verify its results.

    It has the suite, the plan, all results, versions, and hashes of data and code, but no paths below your home.
    """
    from mfbench.base.text import counted
    from mfbench_claims.api import bundle_runs

    outlive_output()
    console = make_console()
    for written in bundle_runs(runs, output, out, license_id):
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
    budget: Annotated[
        Text,
        typer.Option(metavar="TIME", help="Run as many as fit into a time, such as 30m, by the times in the bundle."),
    ] = None,
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
    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Write the JSON to a file too, for 'mfbench board'.")
    ] = None,
) -> None:
    """Run a sample of a bundle's trials again, and compare the results.

    Exit code 0: all compared results are equal; 1: something differs, was dropped or has no result, or a verdict would
    change; 2: the file is refused; 3: nothing could be compared.
    """
    from mfbench.api import write_report
    from mfbench.base.text import json_document
    from mfbench.report.progress import Silent, follow
    from mfbench_claims.api import SAMPLE, verify_bundle
    from mfbench_claims.verification import verification_lines

    if every + (sample is not None) + (budget is not None) > 1:
        raise UsageError("choose one of --sample, --budget and --all")
    outlive_output()
    console = make_console()
    display = Silent() if as_json else follow(console)
    try:
        verification = verify_bundle(
            claim,
            sample=None if every else sample or SAMPLE,
            budget=budget,
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
    document = json_document(json.dumps(verification.to_dict(), indent=2, ensure_ascii=False)) + "\n"
    if record is not None:
        write_report(record, document)
    if as_json:
        write_document(document)
    else:
        for line in verification_lines(verification):
            print_line(console, line)
    raise typer.Exit(verification.exit_code)


def board(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of bundles, with records in folders 'records'.")
    ],
    as_json: AsJson = False,
    as_md: AsMarkdown = False,
    as_latex: AsLatex = False,
    as_html: AsHtml = False,
    output: Output = None,
) -> None:
    """Rate the methods of bundles, a leaderboard for each suite.

    Each row names its bundle, the command that computes it again, and what share of its results was verified, by the
    records that 'mfbench verify --record' wrote.
    """
    from mfbench_claims.board import board_of

    form = chosen_form(output, json=as_json, md=as_md, latex=as_latex, html=as_html)
    deliver(board_of(folder), form, output)
