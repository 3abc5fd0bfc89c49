"""The data of charts, for tests that compare them with tables."""

import pandas as pd


def data_of(content):
    """Return all data of a specification as one frame: those of its layers one below the other."""
    datasets = content.get("datasets", {})
    frames = []
    for data in _inline_data(content):
        rows = datasets.get(data["name"]) if "name" in data else data.get("values")
        if isinstance(rows, list) and rows:
            frames.append(pd.DataFrame(rows))
    unique = [frame for number, frame in enumerate(frames) if not any(frame.equals(f) for f in frames[:number])]
    return pd.concat(unique, ignore_index=True) if unique else pd.DataFrame()


def _inline_data(part):
    if isinstance(part, list):
        for item in part:
            yield from _inline_data(item)
    elif isinstance(part, dict):
        if isinstance(part.get("data"), dict):
            yield part["data"]
        for key, value in part.items():
            if key not in ("data", "datasets"):
                yield from _inline_data(value)
