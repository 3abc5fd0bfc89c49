"""The RO-Crate of a bundle: what its members are, in the form that archives such as Zenodo and WorkflowHub read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mfbench.base.text import counted, plain
from mfbench.run.store.metadata import RunMetadata
from mfbench_claims.form import CRATE, MANIFEST, METADATA

HOME = "https://github.com/mfbench/mfbench"
BASE = "https://w3id.org/ro/crate/1.1"
WORKFLOW = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
PROFILES = ("https://w3id.org/ro/wfrun/process/0.5", "https://w3id.org/ro/wfrun/workflow/0.5", WORKFLOW)
CONTEXTS = (f"{BASE}/context", "https://w3id.org/ro/terms/workflow-run/context")
NO_LICENSE = "The author of this bundle has not stated a license."
CONTENT = {
    MANIFEST: "SHA-256 checksum of each other member, and the version of the format",
    METADATA: "The suite with its methods, datasets and protocol, and the machine and software of the run",
    "datasets.jsonl": "Source, size and SHA-256 checksum of each dataset",
    "left_out.jsonl": "Datasets that could not be used, with the reason",
    "plan.jsonl": "All trials of the run in order, with their seeds",
    "splits.jsonl": "Training and test rows of each trial",
    "trials.jsonl": "The results: predictions, selected features, weights, scores, times and failures",
}
"""A description of each member."""
_LANGUAGE, _RUN = "#suite", "#run"


def last_day(meta: RunMetadata) -> str:
    """Return the day of a run's last start; empty if only versions without dates have run it."""
    return max(each.date for each in (meta.environment, *meta.other_environments))


def crate_of(meta: RunMetadata, planned: int, results: int, sizes: Mapping[str, int], license_id: str) -> bytes:
    """Return the RO-Crate of a bundle, from the sizes in bytes of the members written before it."""
    version = meta.environment.mfbench
    software = f"{HOME}/releases/tag/v{version}"
    text = (
        f"Results of {counted(len(meta.methods), 'method')} in the suite {meta.name} of mfbench, a benchmark for "
        "feature selection: 'mfbench report' shows them, and 'mfbench verify' runs a sample again."
    )
    terms = {"@id": f"https://spdx.org/licenses/{license_id}", "@type": "CreativeWork", "name": license_id}
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{plain(meta.title)}: profile {meta.profile}",
        "description": text,
        "datePublished": last_day(meta),
        "license": _to(terms["@id"]) if license_id else NO_LICENSE,
        "conformsTo": [*map(_to, PROFILES)],
        "mainEntity": _to(METADATA),
        "mentions": _to(_RUN),
        "hasPart": [_to(name) for name in (*sizes, MANIFEST)],
    }
    run = {
        "@id": _RUN,
        "@type": "CreateAction",
        "name": f"Run of the suite {meta.name}",
        "description": f"{counted(planned, 'planned trial')}, {counted(results, 'result')}",
        "instrument": _to(METADATA),
        "object": _to("datasets.jsonl"),
        "result": _to("trials.jsonl"),
        "endTime": last_day(meta),
    }
    about = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": _to("./"),
        "conformsTo": [_to(BASE), _to(WORKFLOW)],
    }
    tool = {"@id": software, "@type": "SoftwareApplication", "name": "mfbench", "softwareVersion": version, "url": HOME}
    language = {"@id": _LANGUAGE, "@type": "ComputerLanguage", "name": "Suite of mfbench", "url": HOME}
    files = [_file(name, size) for name, size in sizes.items()] + [_file(MANIFEST)]
    # The suite is what the run computes, in the language of suites.
    (suite,) = (file for file in files if file["@id"] == METADATA)
    suite |= {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "programmingLanguage": _to(_LANGUAGE),
        "softwareRequirements": _to(software),
        "version": version,
        "url": HOME,
    }
    profiles = [{"@id": profile, "@type": "CreativeWork", "name": profile} for profile in PROFILES]
    graph = [about, root, *files, run, tool, language, *profiles, *([terms] if license_id else [])]
    return json.dumps({"@context": CONTEXTS, "@graph": graph}, indent=1, ensure_ascii=False).encode() + b"\n"


def _to(name: str) -> dict[str, str]:
    """Return a reference to an entity."""
    return {"@id": name}


def _file(name: str, size: int | None = None) -> dict[str, Any]:
    """Return the entity of a member."""
    kind = "application/json" if name.endswith(".json") else "application/jsonl"
    entity = {"@id": name, "@type": "File", "name": name, "description": CONTENT[name], "encodingFormat": kind}
    return entity if size is None else {**entity, "contentSize": str(size)}
