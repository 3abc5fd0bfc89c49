"""UCI: what becomes of a dataset's columns, and what each fault ends in."""

import hashlib

import numpy as np
import pytest

from mfbench.data.repositories import load_uci
from mfbench.errors import DataError, DataUnavailableError, UnknownNameError, UsageError

DESCRIPTION, TABLE = "/api/dataset?id=53", "/static/public/53/data.csv"


class TestTable:
    def test_columns(self, site, scratch):
        site.uci()
        illness, _ = load_uci(53)
        assert illness.name == "uci:53"
        assert illness.feature_names == ("age", "sex", "stage")
        assert illness.categorical.tolist() == [False, True, True]
        np.testing.assert_array_equal(illness.X, [[50, 0, 0], [np.nan, 1, 1], [61, 0, np.nan]])
        assert illness.class_names == ("1", "2")
        assert illness.y.tolist() == [1, 0, 0]
        assert not list(scratch.iterdir())

    def test_card(self, site, tables):
        site.uci()
        illness, card = load_uci("53")
        assert card == {
            "url": site.url + TABLE,
            "checksum": hashlib.sha256(tables.csv.encode()).hexdigest(),
            "target": "grade",
            "retrieved": card["retrieved"],
        }
        assert illness.source == "UCI dataset 53 (Illness), https://archive.ics.uci.edu/dataset/53"
        assert illness.license == "see https://archive.ics.uci.edu/dataset/53"
        assert illness.citation == (
            "A. Doe, B. Roe (1999). Illness [Dataset]. UCI Machine Learning Repository. "
            "https://doi.org/10.24432/XYZ Introduced in: A. Doe: On illness. Journal, 1998"
        )

    def test_options(self, site):
        site.uci(license="CC BY 4.0")
        illness, card = load_uci("53", target="sex", categorical=["age"], drop=["stage"])
        assert illness.feature_names == ("age",)
        assert illness.categorical.all()
        assert (card["target"], illness.license) == ("sex", "CC BY 4.0")

    def test_several_targets(self, site, tables):
        variables = [{**column, "role": "Target"} if column["name"] == "sex" else column for column in tables.variables]
        site.uci(variables=variables)
        with pytest.raises(
            UsageError, match=r"UCI dataset 53 declares 2 targets: name one of 'sex', 'grade' as 'target'"
        ):
            load_uci(53)
        assert load_uci(53, target="sex")[0].feature_names == ("age", "stage")

    def test_no_target(self, site, tables):
        site.uci(variables=tables.variables[:-1])
        with pytest.raises(UsageError, match=r"declares no target: name one of its columns as 'target' \(ID, age"):
            load_uci(53)

    @pytest.mark.parametrize("option", [{"target": "grades"}, {"categorical": ["Age"]}])
    def test_columns_that_do_not_exist(self, site, option):
        site.uci()
        with pytest.raises(UnknownNameError, match="in UCI dataset 53"):
            load_uci(53, **option)

    @pytest.mark.parametrize("kind", ["Continuous", "Categorical"])
    def test_a_description_that_names_more_columns_than_there_are(self, site, tables, kind):
        site.uci(variables=[*tables.variables, {"name": "weight", "role": "Feature", "type": kind}])
        with pytest.raises(DataError, match="'weight'"):
            load_uci(53)

    def test_citation_without_anything(self, site):
        site.uci(creators=None, dataset_doi=None, intro_paper=None)
        assert load_uci(53)[0].citation == "Illness [Dataset]. UCI Machine Learning Repository."

    def test_names_of_the_server_are_no_paths(self, site, scratch, tmp_path):
        site.uci(name="../../evil\x1b[31m")
        assert "\x1b" not in load_uci(53)[0].source
        assert [found.name for found in tmp_path.rglob("*")] == ["scratch"]


class TestFaults:
    def test_success_after_a_retry(self, subtests, site, faults, quick, scratch):
        for fault in ["500", "truncated", "silent", "hang_up"]:
            for path in [DESCRIPTION, TABLE]:
                with subtests.test(fault=fault, path=path):
                    site.forget()
                    quick(fault)
                    site.uci()
                    site.faults[path] = [faults.status(500) if fault == "500" else getattr(faults, fault), faults.none]
                    assert load_uci(53)[0].n_samples == 3
                    assert site.asked.count(path) == 2
                    assert not list(scratch.iterdir())

    def test_one_sentence(self, subtests, site, faults, quick, scratch):
        for fault in ["404", "500", "truncated", "hang_up", "loop", "endless", "gigabytes"]:
            for path in [DESCRIPTION, TABLE]:
                with subtests.test(fault=fault, path=path):
                    site.forget()
                    quick(fault)
                    site.uci()
                    site.faults[path] = [faults.status(int(fault)) if fault.isdigit() else getattr(faults, fault)]
                    with pytest.raises(DataError) as error:
                        load_uci(53)
                    is_unavailable = fault in ("500", "truncated", "hang_up", "loop")
                    assert isinstance(error.value, DataUnavailableError) == is_unavailable
                    assert "\n" not in str(error.value)
                    assert site.url + path in str(error.value)
                    assert not list(scratch.iterdir())

    def test_an_unknown_number(self, site):
        site.page(DESCRIPTION, {"status": 404, "message": "Dataset not found"})
        with pytest.raises(DataError, match=r"there is no UCI dataset 53 \(Dataset not found\): check the number"):
            load_uci(53)

    def test_a_dataset_without_a_table(self, site):
        site.uci(data_url=None)
        with pytest.raises(DataError, match=r"UCI dataset 53 \(Illness\) is not offered as one table: .*file:PATH"):
            load_uci(53)

    def test_an_answer_of_another_form(self, subtests, site):
        for answer in [
            [],
            {"status": "x"},
            {"status": 200},
            {"status": 200, "data": {"data_url": "x", "variables": [3]}},
        ]:
            with subtests.test(answer=answer):
                site.page(DESCRIPTION, answer)
                with pytest.raises(
                    DataError, match="UCI's answer about UCI dataset 53 does not have the documented form"
                ):
                    load_uci(53)

    def test_a_page_in_place_of_the_answer(self, site, faults):
        site.faults[DESCRIPTION] = [faults.garbage]
        with pytest.raises(DataError, match="is not JSON"):
            load_uci(53)

    def test_a_damaged_table(self, site, scratch):
        site.uci(csv="ID,age,sex,stage,when,grade\n1,2\n")
        with pytest.raises(DataError, match=r"UCI dataset 53 cannot be used: .*line 2: 2 values") as error:
            load_uci(53)
        assert str(scratch) not in str(error.value)
