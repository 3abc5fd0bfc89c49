"""The command line: words in, calls out. No logic of its own; heavy imports stay inside the commands."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from mfbench.cli_datasets import DataDir, Offline, Strict
from mfbench.cli_datasets import app as datasets_app
from mfbench.cli_datasets import console as _console
from mfbench.errors import ExitCode, MfbenchError, UsageError

if TYPE_CHECKING:
    from mfbench.suite.plan import Plan

app = typer.Typer(
    name="mfbench",
    help="Which feature selector, with which classifier, on which data, is better, and at what cost.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(datasets_app, name="datasets")

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of all runs.")]


def _version(value: bool) -> None:
    if value:
        from mfbench import __version__

        print(f"mfbench {__version__}")  # noqa: T201 - this is the output
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Which feature selector, with which classifier, on which data, is better, and at what cost."""


@app.command()
def suite(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", help="An installed suite, or the path of a .toml file.")],
    profile: Annotated[
        str | None,
        typer.Option(help="quick, standard, paper, or one of the suite's own. [default: the suite's choice]"),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Worker processes; 0: one per processor.")] = 0,
    only: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only datasets and methods that match; can be repeated.")
    ] = None,
    out: Out = Path("reports"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Throw away an earlier run of the same suite and options.")
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run trials again that failed before.")] = False,
    seed: Annotated[int | None, typer.Option(help="Goes over the suite's seed.")] = None,
    data_dir: DataDir = None,
    offline: Offline = False,
    strict: Strict = False,
    explain_key: Annotated[
        bool, typer.Option("--explain-key", help="Print what the keys of stored results depend on, and run nothing.")
    ] = False,
) -> None:
    """Run a suite, or what is left of it, and print its report."""
    from mfbench.api import load_run, prepare_suite
    from mfbench.host.registry import load_registry
    from mfbench.report.downloads import Downloads
    from mfbench.report.present import show_run
    from mfbench.report.progress import follow
    from mfbench.run.runner import RunOptions, execute

    registry = load_registry(strict=strict)
    console = _console()
    with Downloads(console) as downloads:
        plan, folder, _ = prepare_suite(
            name,
            profile=profile,
            only=only or (),
            out=out,
            seed=seed,
            data_dir=data_dir,
            offline=offline,
            registry=registry,
            follower=downloads,
        )
    if explain_key:
        _explain_keys(plan)
        return
    display = follow(console)
    interrupted = False
    try:
        with _termination_as_interrupt():
            execute(plan, folder, registry, RunOptions(jobs, fresh, retry_failed), display)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        display.close()
    run = load_run(folder)
    show_run(run, console, registry)
    console.print(f"\nResults: {folder}", markup=False, highlight=False, soft_wrap=True)
    if interrupted:
        console.print(f"Interrupted. Go on with: {_resume_command()}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(ExitCode.INTERRUPTED)
    raise typer.Exit(_verdict(run))


@app.command()
def suites(
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of suite files.")] = False,
    strict: Strict = False,
) -> None:
    """List the installed suites."""
    from mfbench.host.registry import load_registry

    if schema:
        import json

        from mfbench.suite.schema import Suite

        print(json.dumps(Suite.model_json_schema(), indent=2))  # noqa: T201 - for a file, not for a reader
        return
    from mfbench.report.listings import show_suites

    show_suites(load_registry(strict=strict), _console())


@app.command()
def plugins(
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Only methods with this tag; can be repeated.")
    ] = None,
    strict: Strict = False,
) -> None:
    """List every selector and classifier, with the paper it comes from and the package that brings it."""
    from mfbench.host.registry import load_registry
    from mfbench.report.listings import show_plugins

    show_plugins(load_registry(strict=strict), _console(), tag or ())


@app.command()
def report(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="A run folder, a folder of runs, or a suite's name.")
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Instead of a run: analyse a published table anew; its name or CSV file."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="The method that others are compared with. [default: the suite's, or the best]"
        ),
    ] = None,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Also all pairs, win probabilities and the profile of times.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of the terminal view.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV, one line per dataset and method.")] = False,
    as_md: Annotated[bool, typer.Option("--md", help="Markdown.")] = False,
    as_svg: Annotated[bool, typer.Option("--svg", help="A picture of the terminal view.")] = False,
    figure: Annotated[
        str | None, typer.Option(metavar="KIND", help="A figure as SVG: critical-difference or time-profile.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write pictures of a ground-truth run (SVG) to a folder.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
    out: Out = Path("reports"),
) -> None:
    """Show the report of a run again, or export it; or analyse a published table anew."""
    from mfbench.report.present import Form, present_run, present_table

    forms = {"json": as_json, "csv": as_csv, "md": as_md, "svg": as_svg, "figure": figure is not None}
    chosen = [name for name, wanted in forms.items() if wanted]
    if len(chosen) > 1:
        raise UsageError("choose one of --json, --csv, --md, --svg and --figure")
    if (run is None) == (published is None):
        raise UsageError("name a run or, with --published, a table; one of the two")
    if output is not None and not chosen:
        raise UsageError("--output needs one of --json, --csv, --md, --svg and --figure")
    form = Form(chosen[0] if chosen else "terminal", figure, statistics, reference, output)
    if published is not None:
        text = present_table(published, form, _console())
    else:
        from mfbench.api import load_run

        assert run is not None
        loaded = load_run(run if Path(run).exists() else out / run)
        if figures is not None:
            from mfbench.report.present import write_charts

            for path in write_charts(loaded, figures):
                sys.stdout.write(f"{path}\n")
            return
        text = present_run(loaded, form, _console())
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MfbenchError(f"cannot write {output}: {error.strerror or error}") from error


def _explain_keys(plan: Plan) -> None:
    import json

    for (dataset, method), ingredients in plan.ingredients.items():
        trial = next(t for t in plan.trials if (t.dataset, t.method) == (dataset, method))
        coordinates = {"repeat": trial.repeat, "fold": trial.fold, "seed": trial.seed}
        content = {"key": trial.key, "dataset": dataset, "method": method, **coordinates, "depends_on": ingredients}
        print(json.dumps(content, indent=2, default=repr))  # noqa: T201 - for a file, not for a reader


def _verdict(run: Any) -> ExitCode:
    statuses = run.outcomes["status"] if len(run.outcomes) else []
    if not any(status == "ok" for status in statuses):
        return ExitCode.NOTHING_MEASURED
    # A dataset that is only not at hand is no failure: the run did what could be done, and the report names it.
    return ExitCode.FAILED if len(run.failures) or set(run.left_out) - set(run.not_at_hand) else ExitCode.OK


def _resume_command() -> str:
    import shlex

    return shlex.join(["mfbench", *(word for word in sys.argv[1:] if word != "--fresh")])


def _termination_as_interrupt() -> Any:
    """Let SIGTERM and a closed terminal end a run as Ctrl-C does: a partial report, the command that goes on."""
    import signal
    from contextlib import contextmanager

    @contextmanager
    def handler() -> Any:
        def interrupt(number: int, frame: object) -> NoReturn:
            raise KeyboardInterrupt

        numbers = [number for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None)) if number is not None]
        # What the caller has told this process to ignore (nohup) stays ignored.
        before = {number: signal.getsignal(number) for number in numbers}
        for number, handling in before.items():
            if handling is not signal.SIG_IGN:
                signal.signal(number, interrupt)
        try:
            yield
        finally:
            for number, handling in before.items():
                signal.signal(number, handling)

    return handler()


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    sys.stderr.write(f"warning: {message}\n")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave with an `ExitCode`.

    Parameters
    ----------
    arguments : list of str or None, default=None
        Words after the command's name; None takes those of the process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in words
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    try:
        app([word for word in words if word != "--debug"])
    except MfbenchError as error:
        if debug:
            raise
        _complain(str(error))
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        raise SystemExit(ExitCode.INTERRUPTED) from None
    except BrokenPipeError:
        # The reader of our output has gone, as with "mfbench plugins | head": nothing to complain about.
        sys.stderr.close()
        raise SystemExit(ExitCode.OK) from None
    except Exception as error:
        if debug:
            raise
        _complain(
            f"unexpected {type(error).__name__}: {error}. This is a bug of mfbench or of a plugin: "
            "give the command again with --debug and report what it prints"
        )
        raise SystemExit(ExitCode.FAILED) from None
    raise SystemExit(ExitCode.OK)


def _complain(text: str) -> None:
    sys.stderr.write("".join(f"mfbench: {line}\n" for line in text.splitlines()))


if __name__ == "__main__":
    main()
