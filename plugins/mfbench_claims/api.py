"""The Python API behind ``mfbench bundle`` and ``mfbench verify``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from mfbench.api.request import DEFAULT_OUT, find_run
from mfbench.base.text import plain_text
from mfbench.data.cache import DataOptions
from mfbench.data.lookup import Lookup
from mfbench.errors import UsageError, whole_number
from mfbench.host.registry import load_registry
from mfbench.model.trials import Status, Trial
from mfbench.processes.temporary import temporary_folder
from mfbench.report.progress import follow_in_notebook
from mfbench.run.environment import available_cpus, describe, kind_of_machine
from mfbench.run.forecast.order import seconds_of
from mfbench.run.merging import differing_data, machine_of
from mfbench.run.reuse import remarks_on_reuse
from mfbench.run.runner import Observer, RunOptions, execute
from mfbench.run.store.metadata import code_of, differences_of
from mfbench.run.store.store import Store
from mfbench.stats.detection import which_shard
from mfbench.stats.results import Run
from mfbench.suite.costs import TRIAL
from mfbench.suite.plan import Plan
from mfbench_claims.agreement import COLUMNS, MEASURED, Agreement, AgreementKind, agreement
from mfbench_claims.dropped import dropped_parts
from mfbench_claims.installed_suite import differences_from_installed, differing_figures, limits_of
from mfbench_claims.reading import OpenedBundle, opened_bundles
from mfbench_claims.rebuilt_plan import Rebuilt, Surroundings, code_of_run, rebuilt_plan
from mfbench_claims.verdicts import changed_verdicts, claimed_run, one_line, verdicts_of, with_repeated
from mfbench_claims.verification import Place, Verification, VerifiedTrial, in_order_of_draw, new_seed, sample_of
from mfbench_claims.writing import Written, write_bundle

__all__ = ["SAMPLE", "Verification", "VerifiedTrial", "Written", "bundle_run", "bundle_runs", "verify_bundle"]

SAMPLE = 50
OTHER_KEY = "its key is not that of the suite here, although data, code and versions are the same"
OTHER_MACHINE = "another processor or system"


def verify_bundle(
    bundle: Path | str,
    *,
    sample: int | None = SAMPLE,
    budget: str | float | None = None,
    seed: int | None = None,
    jobs: int = 0,
    data_dir: Path | str | None = None,
    offline: bool = False,
    files: Path | str | None = None,
    import_classes: bool = False,
    observer: Observer | None = None,
) -> Verification:
    """Run a sample of a bundle's trials again, and compare the results.

    Parameters
    ----------
    bundle : Path or str
        A file written by `bundle_run`, on any machine.
    sample : int or None, default=50
        Number of trials; None means all.
    budget : str, float or None, default=None
        Wall time, such as ``"30m"`` or seconds, instead of a number: as many trials as it is enough for by the times in
        the bundle, and at least one.
    seed : int or None, default=None
        Seed of the sample; None uses an unpredictable one.
    jobs : int, default=0
        Number of worker processes; 0 means one per available processor.
    data_dir : Path, str or None, default=None
        A mirror of datasets; None uses the environment variable ``MFBENCH_DATA_DIR``.
    offline : bool, default=False
        Do not use the network.
    files : Path, str or None, default=None
        The folder with the files of the bundle's ``file:`` datasets, which bundles do not include.
    import_classes : bool, default=False
        Import classes that the bundle's methods name by import path. This lets the author of the bundle choose code in
        your environment to run.
    observer : Observer or None, default=None
        Called with every result.

    Returns
    -------
    Verification

    Raises
    ------
    UsageError
        If the file is rejected as a bundle, or an argument is not valid.

    Notes
    -----
    Worker processes import the main script, so a script must call this function under
    ``if __name__ == "__main__":``. docs/claims.md describes what is compared.

    Examples
    --------
    >>> import mfbench, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = mfbench.run_suite("uci", only=["iris", "1NN", "DUM"], out=folder, jobs=1)
    ...     claim = mfbench.bundle_run(run.path, Path(folder) / "claim.zip")
    ...     verification = mfbench.verify_bundle(claim, sample=4, jobs=1)
    >>> verification.counts["equal"], verification.changed
    (4, [])
    """
    sample = None if sample is None else whole_number(sample, "a sample", 1)
    seed = new_seed() if seed is None else whole_number(seed, "a seed", 0)
    jobs = whole_number(jobs, "the number of workers", 0)
    registry = load_registry(isolated=True)
    lookup = Lookup(DataOptions.of(data_dir, offline))
    here = Surroundings(registry, lookup, None if files is None else Path(files), import_classes)
    with opened_bundles([Path(bundle)]) as (opened,), temporary_folder("verify") as work:
        options = RunOptions(jobs, fresh=True)  # do not reuse results of other runs
        verifier = _Verifier(opened, here, work)
        if budget is not None:
            sample = verifier.affordable(seconds_of(budget) * (jobs or available_cpus()), seed)
        return verifier.verify(sample, seed, options, observer or follow_in_notebook())


class _Verifier:
    """Verifies one bundle."""

    def __init__(self, bundle: OpenedBundle, here: Surroundings, work: Path) -> None:
        self.bundle, self.here, self.work, self.repeated = bundle, here, work, work / "run"
        self.run = claimed_run(bundle)
        self.verdicts = verdicts_of(self.run)
        self.limits = limits_of(bundle.meta, here.registry)
        self.completed: set[Place] = set()
        self.differing: dict[str, str] = {}  # for each dataset with other content here, a clause by label
        query = "SELECT p.key, t.key, dataset, method, repeat, fold FROM plan p LEFT JOIN trials t ON t.key = p.key"
        with Store(bundle.folder, read_only=True) as store:
            rows = list(store.raw(f"{query} ORDER BY position"))
        self.keys: dict[Place, str] = {(row[2], row[3], row[4], row[5]): row[0] for row in rows}
        self._results = [row[1] for row in rows if row[1] is not None]
        self.missing: list[Place] = [(row[2], row[3], row[4], row[5]) for row in rows if row[1] is None]

    def affordable(self, seconds: float, seed: int) -> int:
        """Return how many trials of the sample with a seed take some worker time, by the times in the bundle."""
        columns = ["dataset", "method", "repeat", "fold", "duration"]
        times = {
            tuple(place): seconds for *place, seconds in self.run.trials[columns].itertuples(index=False, name=None)
        }
        ordered = in_order_of_draw(set(self.keys) - set(self.missing), seed)
        spent = accumulate(times[place] + TRIAL for place in ordered)
        return max(1, sum(1 for total in spent if total <= seconds))

    def verify(self, sample: int | None, seed: int, options: RunOptions, observer: Observer) -> Verification:
        places = sample_of(set(self.keys) - set(self.missing), sample, seed)
        meta, manifest = self.bundle.meta, self.bundle.manifest
        stated = {(dataset, method) for method, datasets in meta.unsuited.items() for dataset in datasets}
        datasets = {place[0] for place in places} | {dataset for dataset, _ in stated}
        methods = {place[1] for place in places} | {method for _, method in stated}
        rebuilt = rebuilt_plan(meta, datasets, methods, self.here)
        # A method marked as binary-only by the bundle alone appears in the plan made here.
        unsuited = stated - {(t.dataset, t.method) for t in (rebuilt.plan.trials if rebuilt.plan else ())}
        dropped = dropped_parts(meta, self.keys, self.run.left_out, self.here, unsuited)
        trials = self._runnable(places, rebuilt)
        agreements: dict[Place, Agreement] = {}
        changed: list[str] = []
        subjects = len(self.verdicts)
        code: list[str] = []
        if trials and rebuilt.plan is not None:
            labels = dict.fromkeys(place[1] for place in trials)
            code = code_of_run((rebuilt.plan.methods[name] for name in labels), meta.protocol, self.here.registry)
            agreements = self._agreements(rebuilt.plan, trials, options, observer)
            changed, subjects = self._changed(trials, agreements)
        return Verification(
            bundle=self.bundle.path.name,
            sha256=self.bundle.sha256,
            suite=meta.name,
            profile=meta.profile,
            protocol=meta.protocol.kind,
            measures_times=meta.design.times,
            part=meta.part,
            only=list(meta.only),
            share="" if meta.shard is None else plain_text(which_shard(meta.shard, manifest.planned), 300),
            suite_differences=differences_from_installed(meta, self.here.registry),
            limits=list(self.limits.lowered),
            figures=differing_figures(self.bundle, self.here.registry),
            seed=seed,
            planned=manifest.planned,
            results=manifest.results,
            unplanned=sum(dropped.values()),
            # Trials in other shards do not count as dropped.
            dropped=list(dropped) if meta.shard is None else [],
            missing=[VerifiedTrial(*place, AgreementKind.NOT_RUN).name for place in self.missing],
            # The record was written by the bundle's author; its first sentence contains the numbers.
            code=code,
            reused=[plain_text(text, 500) for text in remarks_on_reuse(meta.reused, self._results)[:1]],
            left_out=self.run.left_out | {f"{m} on {d}": "it is for two classes" for d, m in sorted(unsuited)},
            trials=[self._verified(place, agreements, rebuilt) for place in places],
            differences=self._differences(trials, rebuilt.plan),
            verdicts=subjects,
            changed=changed,
            max_rows=meta.protocol.max_rows,
            machine=kind_of_machine(),
        )

    def _runnable(self, places: Sequence[Place], rebuilt: Rebuilt) -> dict[Place, Trial]:
        """Return the sampled trials that can run here, on the same data."""
        if rebuilt.plan is None:
            return {}
        for label, planned in rebuilt.plan.datasets.items():
            if planned.sha256 != self.bundle.datasets.get(label):
                rebuilt.reasons[label] = f"{label} has other data here (sha256 {planned.sha256[:12]})"
        trials = {(trial.dataset, trial.method, trial.repeat, trial.fold): trial for trial in rebuilt.plan.trials}
        return {place: trials[place] for place in places if place in trials and place[0] not in rebuilt.reasons}

    def _agreements(
        self, plan: Plan, trials: dict[Place, Trial], options: RunOptions, observer: Observer
    ) -> dict[Place, Agreement]:
        """Run the trials, and compare each result with the claimed one."""
        datasets = {label: plan.datasets[label] for label in dict.fromkeys(place[0] for place in trials)}
        part = replace(plan, trials=list(trials.values()), datasets=datasets)
        execute(part, self.repeated, self.here.registry, options, observer)
        claimed, repeated = (_rows(folder, trials) for folder in (self.bundle.folder, self.repeated))
        agreements = {
            place: agreement(claimed[place], repeated[place], self.limits) for place in trials if place in repeated
        }
        self.completed = {place for place, row in repeated.items() if row["status"] == Status.OK}
        self.differing = differing_data(self.bundle.folder, self.repeated)
        for place, each in agreements.items():
            if place[0] in self.differing:
                details = filter(None, (self.differing[place[0]], each.detail))
                agreements[place] = Agreement(AgreementKind.DIFFERENT, "; ".join(details))
        return agreements

    def _changed(self, trials: dict[Place, Trial], agreements: dict[Place, Agreement]) -> tuple[list[str], int]:
        """Return a clause on each verdict that would change, and the number of verdicts on either side."""
        replaced = {
            self.keys[place]: trials[place].key
            for place, each in agreements.items()
            if each.outcome in (AgreementKind.ROUNDING, AgreementKind.DIFFERENT)
            # A claimed limit must not keep a successful result out of the verdicts.
            or (each.outcome is AgreementKind.NOT_COMPARABLE and place in self.completed)
        }
        if not replaced:
            return [], len(self.verdicts)
        # Verdicts use the local data, so claimed results on different data must be dropped.
        dropped = {key for place, key in self.keys.items() if place[0] in self.differing} - set(replaced)
        try:
            run = with_repeated(self.bundle.folder, self.repeated, replaced, self.work / "repeated", dropped)
            verdicts = verdicts_of(run)
        except Exception as error:  # noqa: BLE001 - as above; the differences already established must not be lost
            reason = f"because none can be computed with the repeated results ({one_line(error)})"
            return [f"{clause}, {reason}" for clause in changed_verdicts(self.verdicts, {})], len(self.verdicts)
        return changed_verdicts(self.verdicts, verdicts), len(self.verdicts | verdicts)

    def _verified(self, place: Place, agreements: dict[Place, Agreement], rebuilt: Rebuilt) -> VerifiedTrial:
        if place in agreements:
            return VerifiedTrial(*place, agreements[place].outcome, agreements[place].detail)
        dataset, method = place[:2]
        reason = rebuilt.reasons.get(dataset) or rebuilt.reasons.get(method) or "it is not part of the suite here"
        return VerifiedTrial(*place, AgreementKind.NOT_RUN, reason)

    def _differences(self, trials: dict[Place, Trial], plan: Plan | None) -> dict[str, int]:
        """Return the differences of the local environment, with the number of trials affected."""
        if plan is None or not trials:
            return {}
        meta, code = self.bundle.meta, code_of(plan)
        counter: Counter[str] = Counter()
        for place, trial in trials.items():
            unexplained = [OTHER_KEY] if trial.key != self.keys[place] else []
            counter.update(differences_of(meta.code, code, *place[:2]) or unexplained)
        machines = {machine_of(each) for each in (meta.environment, *meta.other_environments)}
        elsewhere = {key for name in meta.reused.differences for key in meta.reused.keys.get(name, ())}
        is_elsewhere = machines != {machine_of(describe(self.here.registry, jobs=1, memory=0))}
        if number := sum(is_elsewhere or self.keys[place] in elsewhere for place in trials):
            counter[OTHER_MACHINE] = number
        return dict(counter)


def _rows(folder: Path, places: dict[Place, Trial]) -> dict[Place, dict[str, Any]]:
    """Return a run's results for some of the trials."""
    with Store(folder, read_only=True) as store:
        stored = (row for row in store.rows((*COLUMNS, *MEASURED)) if row["status"] is not None)
        rows = {(row["dataset"], row["method"], row["repeat"], row["fold"]): row for row in stored}
    return {place: rows[place] for place in places if place in rows}


BUNDLE_NAME = "claim.zip"


def bundle_run(run: Run | Path | str, target: Path | str, *, license_id: str = "") -> Path:
    """Write a run to one file from which anyone can verify its results.

    Parameters
    ----------
    run : Run, Path or str
        A run, or a path as in `load_run`; it stays unchanged.
    target : Path or str
        The output file; overwritten if it exists.
    license_id : str, default=""
        SPDX identifier of the license of the results, such as ``"CC-BY-4.0"``, for the RO-Crate in the bundle; empty
        means that none is stated.

    Returns
    -------
    Path
        The file; its bytes are determined by the run and the license.

    Raises
    ------
    UsageError
        If there is no run at `run`, `target` is a folder, or `license_id` is not an SPDX identifier.
    RunError
        If the run cannot be read, or its suite contains a private path.

    Examples
    --------
    >>> import mfbench, tempfile, zipfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = mfbench.run_suite("uci", only=["iris", "1NN", "DUM"], out=folder, jobs=1)
    ...     claim = mfbench.bundle_run(run, Path(folder) / "claim.zip")
    ...     sorted(zipfile.ZipFile(claim).namelist())[:3]
    ['datasets.jsonl', 'left_out.jsonl', 'manifest.json']
    """
    stored = _own(run if isinstance(run, Run) else find_run(str(run)))
    return write_bundle(stored.path, Path(target), license_id).path


def bundle_runs(
    runs: Sequence[str], target: Path, out: Path | str = DEFAULT_OUT, license_id: str = ""
) -> Iterator[Written]:
    """Write one run to a file, or several runs into a folder.

    Parameters
    ----------
    runs : sequence of str
        Runs, each as in `mfbench.api.request.find_run`.
    target : Path
        A file ending in ``.zip``, or a folder, in which each run is written to ``SUITE/claim.zip``.
    out : Path or str, default="reports"
        Folder of all runs.
    license_id : str, default=""
        As in `bundle_run`.

    Yields
    ------
    Written

    Raises
    ------
    UsageError
        If several runs would be written to the same file.
    """
    stored = [_own(find_run(run, out)) for run in runs]
    if target.suffix.lower() == ".zip" and not target.is_dir():
        if len(stored) > 1:
            raise UsageError(f"{target} is one file: name a folder to bundle several runs")
        yield write_bundle(stored[0].path, target, license_id)
        return
    targets = [target / run.meta.name / BUNDLE_NAME for run in stored]
    for run, path in zip(stored, targets, strict=True):
        if targets.count(path) > 1:
            raise UsageError(f"several runs of the suite {run.meta.name} would be {path}: bundle them one by one")
    for run, path in zip(stored, targets, strict=True):
        yield write_bundle(run.path, path, license_id)


def _own(run: Run) -> Run:
    """Return a run, unless its results were read from a bundle."""
    if run.claims:
        raise UsageError(f"{run.bundle} is a bundle: to write one, name a run")
    return run
