"""The state of a run under way, read from its store."""

import json
import time
from pathlib import Path
from typing import Any

from mfbench.base.text import plain
from mfbench.report.contents import answer_of
from mfbench.report.leaderboard import state_of
from mfbench.report.progress import in_words
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.store import Store
from mfbench.stats.results import Run

SHARE = 0.005
"""Share of a processor that each of the two readings of the store may take on average."""
LEAST_PAUSE = 2.0

_CELLS = """
SELECT p.dataset, p.method, COUNT(*), COUNT(t.key), COALESCE(SUM(t.status != 'ok'), 0), SUM(t.duration),
       AVG(json_extract(t.scores, ?))
FROM plan p LEFT JOIN trials t ON t.key = p.key GROUP BY p.dataset, p.method ORDER BY MIN(p.position)
"""


class Reading:
    """A value that is read again once its pause is over: so long that reading takes at most `SHARE` of a processor."""

    def __init__(self) -> None:
        self.value: Any = None
        self._next = 0.0

    def read(self, function: Any) -> Any:
        """Return the value, read by `function` if it is time."""
        if time.monotonic() >= self._next:
            begun = time.thread_time()
            self.value = function()
            self._next = time.monotonic() + max(LEAST_PAUSE, (time.thread_time() - begun) / SHARE)
        return self.value


class Watched:
    """A run that is watched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cells, self._answer = Reading(), Reading()

    def as_json(self) -> str:
        """Return the state as JSON."""
        content = {**self._cells.read(self._read_cells), **self._answer.read(self._read_answer)}
        return json.dumps({**content, "age": f"{in_words(self._age())} ago"}, allow_nan=False)

    def _age(self) -> float:
        """Return the seconds since anything was stored."""
        files = [self.folder / f"{FILE_NAME}{suffix}" for suffix in ("", "-wal")]
        return max(0.0, time.time() - max(file.stat().st_mtime for file in files if file.exists()))

    def _read_cells(self) -> dict[str, Any]:
        with Store(self.folder, read_only=True) as store:
            meta = store.meta()
            metric = meta.protocol.metrics[0]
            rows = list(store.raw(_CELLS, (f'$."{metric}"',)))
        percent, names = meta.scores[metric].percent, meta.display_names
        costs: dict[str, tuple[int, float]] = {}
        for _, method, _, done, _, seconds, _ in rows:
            count, total = costs.get(method, (0, 0.0))
            costs[method] = (count + done, total + (seconds or 0.0))
        done, spent = (sum(part) for part in zip((0, 0.0), *costs.values(), strict=True))
        usual = spent / done if done else 0.0
        left = sum(
            (planned - finished) * (costs[method][1] / costs[method][0] if costs[method][0] else usual)
            for _, method, planned, finished, *_ in rows
        )
        return {
            "title": plain(meta.title),
            "metric": plain(f"{metric.replace('_', ' ')}{', percent' if percent else ''}"),
            "methods": [plain(names[method]) for method in dict.fromkeys(row[1] for row in rows)],
            "datasets": [plain(dataset) for dataset in dict.fromkeys(row[0] for row in rows)],
            "cells": [
                [plain(dataset), plain(names[method]), planned, finished, failed, _rounded(mean, percent)]
                for dataset, method, planned, finished, failed, _, mean in rows
            ],
            "done": done,
            "total": sum(row[2] for row in rows),
            "left": in_words(left / max(1, meta.environment.jobs)) if done else "",
        }

    def _read_answer(self) -> dict[str, Any]:
        run = Run(self.folder)
        return {"answer": [plain(sentence) for sentence in answer_of(run)], "state": plain(state_of(run))}


def _rounded(mean: float | None, percent: bool) -> str:
    if mean is None:
        return ""
    return f"{100.0 * mean:.1f}" if percent else f"{mean:.3g}"
