"""OpenML: what becomes of a dataset's columns, how names are looked up, and what each fault ends in."""

import datetime
import hashlib
import io
import json

import numpy as np
import pandas as pd
import pytest

from mfbench.data.repositories import load_openml, openml_suite
from mfbench.errors import DataError, DataUnavailableError, UnknownNameError, UsageError

DESCRIPTION, COLUMNS = "/api/v1/json/data/61", "/api/v1/json/data/features/61"
TABLE = "/data/v1/download/61/plants.arff"
STUDY = "/api/v1/json/study/99"


class TestTable:
    def test_columns(self, site, scratch):
        site.openml()
        plants, _ = load_openml("61")
        assert plants.feature_names == ("width", "leaf colour", "code")
        assert plants.categorical.tolist() == [False, True, True]
        assert plants.categories == {"leaf colour": ("dark red", "green", "red"), "code": ("0", "1")}
        np.testing.assert_array_equal(plants.X, [[1.5, 1, 0], [np.nan, 2, 1], [2.5, 0, 1], [3.5, np.nan, 0]])
        assert plants.class_names == ("lily", "rose")
        assert plants.y.tolist() == [1, 1, 0, 0]
        assert not list(scratch.iterdir())

    def test_card(self, site, tables):
        site.openml()
        plants, card = load_openml(61)
        table = tables.arff.encode()
        assert card == {
            "url": site.url + TABLE,
            "checksum": hashlib.sha256(table).hexdigest(),
            "md5": hashlib.md5(table).hexdigest(),
            "target": "class",
            "retrieved": card["retrieved"],
        }
        assert json.loads(json.dumps(card)) == card
        assert abs(datetime.date.fromisoformat(card["retrieved"]) - datetime.datetime.now().date()).days <= 1
        assert plants.source == "OpenML dataset 61 (plants, version 1), https://www.openml.org/d/61"
        assert plants.license == "Public"
        assert plants.citation == "plants, version 1. OpenML. https://www.openml.org/d/61"

    def test_forms_of_ignored_columns(self, subtests, site):
        for ignored in ["id,note", ["id", "note"], "id, note , not there"]:
            with subtests.test(ignored=ignored):
                site.openml(ignore_attribute=ignored, row_id_attribute=None)
                assert load_openml("61")[0].feature_names == ("width", "leaf colour", "code")

    def test_flags_of_columns_count_too(self, site):
        flags = {"id": {"is_row_identifier": "true"}, "width": {}, "leaf colour": {"is_ignore": "true"}, "code": {}}
        flags |= {"note": {"is_ignore": "true"}, "class": {"is_target": "true"}}
        site.openml(ignore_attribute=None, row_id_attribute=[], default_target_attribute=[], flags=flags)
        plants, card = load_openml("61")
        assert plants.feature_names == ("width", "code")
        assert card["target"] == "class"

    def test_columns_that_openml_has_not_analysed(self, site, faults):
        site.openml()
        site.faults[COLUMNS] = [faults.complaint(273, "Dataset not processed yet")]
        assert load_openml("61")[0].feature_names == ("width", "leaf colour", "code")

    def test_another_target(self, site):
        site.openml()
        plants, card = load_openml("61", target="code", categorical=["width"], drop=["leaf colour"])
        assert plants.feature_names == ("width",)
        assert plants.categorical.all()
        assert plants.class_names == ("0", "1")
        assert card["target"] == "code"

    @pytest.mark.parametrize("option", [{"target": "clas"}, {"categorical": ["codes"]}])
    def test_columns_that_do_not_exist(self, site, option):
        site.openml()
        with pytest.raises(UnknownNameError, match="did you mean"):
            load_openml("61", **option)
        assert site.url + TABLE not in site.asked

    def test_several_targets(self, site):
        site.openml(default_target_attribute="class,code")
        with pytest.raises(UsageError, match=r"declares 2 targets: name one of 'class', 'code' as 'target'"):
            load_openml("61")
        assert load_openml("61", target="code")[0].feature_names == ("width", "leaf colour")

    def test_no_target(self, site):
        site.openml(default_target_attribute=[])
        with pytest.raises(UsageError, match=r"declares no target: .*leaf colour"):
            load_openml("61")

    def test_parquet_where_arff_is_sparse(self, site):
        table = io.BytesIO()
        frame = pd.DataFrame({"a": [0.5, 1.5], "code": [0, 1], "class": ["x", "y"]})
        frame.to_parquet(table)
        parquet = site.page("/data/61.pq", table.getvalue())
        site.openml(format="Sparse_ARFF", parquet_url=parquet, flags={"a": {}, "code": {}, "class": {}})
        plants, card = load_openml("61")
        assert plants.categorical.tolist() == [True, True]  # "a" is not among the numeric columns of the fixture
        assert card["url"] == parquet
        assert "md5" not in card
        site.openml(format="Sparse_ARFF")
        with pytest.raises(DataError, match="format 'Sparse_ARFF', but only dense ARFF and Parquet are read"):
            load_openml("61")

    def test_names_of_the_server_are_no_paths(self, site, scratch, tmp_path):
        site.openml(name="../../evil\x1b[31m", licence="a\nb")
        plants, _ = load_openml("61")
        assert plants.name == "openml:61"
        assert plants.license == "a b"
        assert "\x1b" not in plants.source
        assert [found.name for found in tmp_path.rglob("*")] == ["scratch"]


class TestNames:
    def answer(self, *numbers):
        return {"data": {"dataset": [{"did": number, "name": "plants", "version": 1} for number in numbers]}}

    def test_a_name_is_the_oldest_active_version(self, site):
        site.openml()
        site.page("/api/v1/json/data/list/data_name/plants/status/active", self.answer(969, 61))
        assert load_openml("plants")[0].name == "openml:61"

    def test_a_version(self, site):
        site.openml()
        answer = self.answer(61)
        answer["data"]["dataset"] = answer["data"]["dataset"][0]
        site.page("/api/v1/json/data/list/data_name/plants/data_version/3/status/all", answer)
        assert load_openml("plants@3")[0].name == "openml:61"

    def test_odd_names_stay_one_part_of_the_address(self, site):
        site.openml()
        site.page("/api/v1/json/data/list/data_name/kr-vs-kp%281.0%29%2C_x/status/active", self.answer(61))
        assert load_openml("kr-vs-kp(1.0),_x")[0].name == "openml:61"

    def test_an_unknown_name(self, site, faults):
        site.faults["/api/v1/json/data/list/data_name/nothing/status/active"] = [faults.complaint(372, "No results")]
        with pytest.raises(DataError, match=r"there is no public OpenML dataset 'nothing'.*'No results', code 372"):
            load_openml("nothing")


class TestSuite:
    def test_numbers_in_order_each_once(self, site):
        for reference in (99, "OpenML-CC18"):
            study = {"id": "99", "data": {"data_id": ["31", "3", "31", "6"]}, "tasks": {"task_id": ["1", "2"]}}
            site.page(f"/api/v1/json/study/{reference}", {"study": study})
            assert openml_suite(reference) == [31, 3, 6]

    def test_one_dataset(self, site):
        site.page(STUDY, {"study": {"data": {"data_id": "61"}}})
        assert openml_suite("99") == [61]

    def test_none(self, subtests, site):
        for data in [[], None, {"data_id": []}]:
            with subtests.test(data=data):
                site.page(STUDY, {"study": {"data": data}})
                with pytest.raises(DataError, match="OpenML suite 99 lists no datasets"):
                    openml_suite(99)

    def test_another_form(self, subtests, site):
        for study in [[], {"data": {"data_id": ["x"]}}, {"data": 3}]:
            with subtests.test(study=study):
                site.page(STUDY, {"study": study})
                with pytest.raises(DataError, match="does not have the documented form"):
                    openml_suite(99)


class TestFaults:
    def test_success_after_a_retry(self, subtests, site, faults, quick, scratch):
        for fault in ["500", "truncated", "silent", "hang_up"]:
            for path in [DESCRIPTION, COLUMNS, TABLE]:
                with subtests.test(fault=fault, path=path):
                    site.forget()
                    quick(fault)
                    site.openml()
                    bad = faults.status(500) if fault == "500" else getattr(faults, fault)
                    site.faults[path] = [bad, faults.none]
                    assert load_openml("61")[0].n_samples == 4
                    assert site.asked.count(path) == 2
                    assert not list(scratch.iterdir())

    def test_one_sentence(self, subtests, site, faults, quick, scratch):
        for fault in ["500", "truncated", "hang_up", "loop", "endless"]:
            for path in [DESCRIPTION, COLUMNS, TABLE]:
                with subtests.test(fault=fault, path=path):
                    site.forget()
                    quick(fault)
                    site.openml()
                    site.faults[path] = [faults.status(500) if fault == "500" else getattr(faults, fault)]
                    with pytest.raises(DataError) as error:
                        load_openml("61")
                    assert "\n" not in str(error.value)
                    assert "OpenML dataset 61" in str(error.value) or fault == "loop"
                    assert site.url + path in str(error.value)
                    assert not list(scratch.iterdir())

    def test_a_wrong_checksum(self, site, faults, quick, scratch):
        site.openml()
        site.faults[TABLE] = [faults.altered, faults.none]
        assert load_openml("61")[0].n_samples == 4
        site.faults[TABLE] = [faults.altered]
        with pytest.raises(DataError, match=r"has the MD5 [0-9a-f]{32}, expected [0-9a-f]{32} \(2 attempts\)"):
            load_openml("61")
        assert not list(scratch.iterdir())

    @pytest.mark.parametrize(
        ("fault", "message"),
        [
            ("404", "OpenML dataset 61 does not exist at"),
            ("412", r"'Unknown dataset', code 111\): check its number or name"),
        ],
    )
    def test_an_unknown_number(self, site, faults, fault, message):
        site.faults[DESCRIPTION] = [faults.none if fault == "404" else faults.complaint(111, "Unknown dataset")]
        with pytest.raises(DataError, match=message):
            load_openml("61")

    def test_an_overloaded_database_is_not_a_missing_dataset(self, site, faults):
        site.faults[DESCRIPTION] = [faults.complaint(107, "Database connection error")]
        with pytest.raises(DataUnavailableError, match=r"overloaded .*; try again later"):
            load_openml("61")

    def test_an_answer_of_another_form(self, subtests, site):
        for description in [
            {},
            {"error": {}},
            [],
            {"data_set_description": {"id": "62"}},
            {"data_set_description": "x"},
        ]:
            with subtests.test(description=description):
                site.page(DESCRIPTION, description)
                with pytest.raises(DataError, match="about OpenML dataset 61 does not have the documented form"):
                    load_openml("61")

    def test_a_table_that_is_none(self, site, scratch):
        site.openml(arff="@relation x\n@attribute a numeric\n@data\n1,2\n")
        with pytest.raises(
            DataError, match="OpenML dataset 61 cannot be used: the table of OpenML dataset 61 at"
        ) as error:
            load_openml("61")
        assert str(scratch) not in str(error.value)
        assert not list(scratch.iterdir())

    def test_a_table_without_its_target(self, site):
        site.openml(default_target_attribute="species", flags={"id": {}, "note": {}, "species": {}})
        with pytest.raises(DataError, match="unknown target column 'species'"):
            load_openml("61")

    def test_only_the_target_is_left(self, site):
        site.openml(ignore_attribute="width,leaf colour,code,note")
        with pytest.raises(DataError, match="has no feature except its target"):
            load_openml("61")


class TestServer:
    def test_the_package_configuration_says_where(self, site, monkeypatch):
        from openml import config

        site.openml()
        monkeypatch.delenv("MFBENCH_OPENML_URL")
        monkeypatch.setattr(config, "server", site.url + "/api/v1/xml/")
        assert load_openml("61")[0].n_samples == 4

    def test_the_address_may_be_that_of_an_interface(self, site, monkeypatch):
        site.openml()
        monkeypatch.setenv("MFBENCH_OPENML_URL", site.url + "/api/v1/json")
        assert load_openml("61")[0].n_samples == 4

    def test_progress_is_that_of_the_table(self, site, tables):
        site.openml()
        calls = []
        load_openml("61", progress=lambda done, total: calls.append((done, total)))
        assert calls[-1] == (len(tables.arff), len(tables.arff))
