"""The RO-Crate of a bundle, read by ro-crate-py as an archive would."""

import re
import shutil
import zipfile

import pytest
from forgery import members_of, write_zip
from rocrate.rocrate import ROCrate

from mfbench.errors import UsageError
from mfbench.run.store.store import Store
from mfbench_claims.form import CRATE, MANIFEST, MEMBERS
from mfbench_claims.reading import opened_bundles
from mfbench_claims.writing import write_bundle


@pytest.fixture
def run(small_run, tmp_path):
    return shutil.copytree(small_run, tmp_path / "out" / "own" / small_run.name)


def test_every_member_is_described(run, tmp_path):
    path = write_bundle(run, tmp_path / "claim.zip", "CC-BY-4.0").path
    crate = ROCrate(path)
    assert {entity.id for entity in crate.data_entities} == set(MEMBERS)
    with zipfile.ZipFile(path) as archive:
        sizes = {member.filename: str(member.file_size) for member in archive.infolist()}
    assert all(entity.get("contentSize", sizes[entity.id]) == sizes[entity.id] for entity in crate.data_entities)
    assert all(entity["description"] != entity["name"] for entity in crate.data_entities)
    with Store(run, read_only=True) as store:
        meta = store.meta()
    root = crate.root_dataset
    assert root["datePublished"] == meta.environment.date and re.fullmatch(r"\d{4}-\d\d-\d\d", meta.environment.date)
    assert meta.name in root["description"] and root["license"].id == "https://spdx.org/licenses/CC-BY-4.0"
    assert crate.mainEntity.id == "metadata.json" and "ComputationalWorkflow" in crate.mainEntity.type
    assert root["mentions"]["result"].id == "trials.jsonl"
    # Every reference leads to an entity of the crate, or to a specification.
    names = {entity.id for entity in crate.get_entities()}
    named = {reference["@id"] for entity in crate.get_entities() for reference in references(entity.properties())}
    assert named - names <= {"https://w3id.org/ro/crate/1.1"}


def references(value):
    if isinstance(value, dict):
        if set(value) == {"@id"}:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from references(each)


def test_a_license_that_nobody_stated(run, tmp_path):
    assert "not stated" in ROCrate(write_bundle(run, tmp_path / "claim.zip").path).root_dataset["license"]
    with pytest.raises(UsageError, match="'CC BY' is not an SPDX identifier of a license"):
        write_bundle(run, tmp_path / "claim.zip", "CC BY")


def test_a_run_without_a_date_has_no_crate(run, tmp_path):
    with Store(run) as store:
        store.record("environment", store.recorded("environment", None) | {"date": ""})
    path = write_bundle(run, tmp_path / "claim.zip").path
    assert CRATE not in members_of(path)
    with opened_bundles([path]):
        pass


def test_a_crate_that_was_changed(run, tmp_path):
    members = members_of(write_bundle(run, tmp_path / "claim.zip").path)
    assert CRATE in members and MANIFEST in members
    forged = write_zip({**members, CRATE: b"{}"}, tmp_path / "forged.zip")
    with (
        pytest.raises(UsageError, match="differs from the checksum"),
        opened_bundles([forged]),
    ):
        pass
