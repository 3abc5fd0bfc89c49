"""Tables as people have them: what is recognised, what columns are taken for, and what is refused in one sentence."""

import gzip

import numpy as np
import pandas as pd
import pytest

from mfbench.errors import DataError, UsageError
from mfbench_select.tables import read_table, separator_of, tidy

ROWS = [("1.5", "a", "yes"), ("2.5", "b", "no"), ("", "a", "yes"), ("4.25", "b", "no")] * 5


def written(path, rows=ROWS, sep=",", names=("size", "kind", "outcome"), encoding="utf-8"):
    text = "\n".join(sep.join(row) for row in (names, *rows)) + "\n"
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


class TestReading:
    @pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("name", ["t.csv", "t.txt.gz"])
    def test_separators_and_compression(self, tmp_path, sep, name):
        frame = read_table(written(tmp_path / name, sep=sep))
        assert list(frame) == ["size", "kind", "outcome"] and len(frame) == 20
        assert tidy(frame, "outcome").frame["size"].tolist()[:2] == [1.5, 2.5]

    def test_quoted_separators_do_not_count(self):
        assert separator_of('a;b\n"x,y,z";1\n"p,q,r";2\n') == ";"

    def test_decimal_commas(self, tmp_path):
        rows = [tuple(cell.replace(".", ",") for cell in row) for row in ROWS]
        frame = tidy(read_table(written(tmp_path / "t.csv", rows, ";")), "outcome").frame
        assert frame["size"].tolist()[3] == 4.25
        forced = read_table(written(tmp_path / "u.csv", rows, ";"), decimal=".")
        assert isinstance(tidy(forced, "outcome").frame["size"].dtype, pd.CategoricalDtype)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
    def test_encodings(self, tmp_path, encoding):
        names = ("größe", "kind", "outcome")
        frame = read_table(written(tmp_path / "t.csv", names=names, encoding=encoding))
        assert next(iter(frame)) == "größe"

    @pytest.mark.parametrize("word", ["NA", "N/A", "NULL", "?", "nan", " ", "#N/A"])
    def test_missing_values(self, tmp_path, word):
        rows = [(word if cell == "" else cell for cell in row) for row in ROWS]
        frame = tidy(read_table(written(tmp_path / "t.csv", [tuple(row) for row in rows])), "outcome").frame
        assert frame["size"].isna().sum() == 5 and frame["size"].dtype == float

    def test_own_sign_for_missing_values(self, tmp_path):
        rows = [("-99" if cell == "" else cell, *more) for cell, *more in ROWS]
        path = written(tmp_path / "t.csv", rows)
        assert tidy(read_table(path, na=["-99"]), "outcome").frame["size"].isna().sum() == 5

    @pytest.mark.parametrize("kind", ["parquet", "feather"])
    def test_binary_files(self, tmp_path, kind):
        frame = pd.DataFrame({"x": np.arange(30) / 7, "y": ["a", "b"] * 15})
        path = tmp_path / f"t.{kind}"
        getattr(frame, f"to_{kind}")(path)
        assert read_table(path).equals(frame)

    def test_arff(self, tmp_path):
        path = tmp_path / "t.arff"
        path.write_text("@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n" + "1,a\n?,b\n" * 5 + "2,b\n")
        frame = tidy(read_table(path), "y").frame
        assert frame["x"].isna().sum() == 5 and frame["y"].tolist() == [*["a", "b"] * 5, "b"]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "is empty"),
            ("a,a\n1,2\n", "two columns named 'a'"),
            ("a,b\n1,2\n1,2,3\n4\n", "row 3 and 1 other row has 3"),
            ("1.5,2.5,x\n1.2,3.1,y\n", "seems to have no header"),
            ("a\0b,c\n1,2\n", "NUL"),
        ],
    )
    def test_damaged_files(self, tmp_path, text, message):
        path = tmp_path / "t.csv"
        path.write_text(text)
        with pytest.raises(DataError, match=message):
            read_table(path)

    def test_unknown_files(self, tmp_path):
        with pytest.raises(UsageError, match="does not exist"):
            read_table(tmp_path / "t.csv")
        (tmp_path / "t.docx").write_text("x")
        with pytest.raises(UsageError, match="unknown type"):
            read_table(tmp_path / "t.docx")
        with pytest.raises(UsageError, match="--encoding 'klingon'"):
            read_table(written(tmp_path / "t.csv"), encoding="klingon")


def messy(n=60):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-30") + pd.to_timedelta(rng.integers(0, 400, n), "D")
    return pd.DataFrame(
        {
            "patient_id": [f"P{number:04}" for number in range(n)],
            "row": [str(number) for number in range(1, n + 1)],
            "zip": [f"0{number % 7}123" for number in range(n)],
            "visit": days.strftime("%d.%m.%Y"),
            "site": rng.choice(["north", "south"], n),
            "remark": [f"see page {number} of {number % 31}" for number in range(n)],
            "constant": ["1"] * n,
            "empty": [None] * n,
            "size": [f"{value:.3f}" for value in rng.normal(size=n)],
            "grade": rng.choice(["1", "2", "3"], n),
            "outcome": rng.choice(["yes", "no"], n),
        },
        dtype=object,
    )


class TestColumns:
    def test_what_columns_are_taken_for(self):
        table = tidy(messy(), "outcome")
        assert {name: kind.split(",")[0].split(":")[0] for name, kind in table.taken.items()} == {
            "patient_id": "identifier",
            "row": "identifier",
            "zip": "category",
            "visit": "date",
            "site": "category",
            "remark": "identifier",
            "constant": "constant",
            "empty": "empty",
            "size": "number",
            "grade": "number",
        }
        dates = ["visit_year", "visit_month", "visit_weekday", "visit_days"]
        assert table.features == ["zip", *dates, "site", "size", "grade"]
        first = pd.to_datetime(messy()["visit"], format="%d.%m.%Y")
        assert table.frame["visit_weekday"].tolist() == first.dt.day_of_week.tolist()
        assert table.frame["visit_days"].min() == 0.0

    def test_overruling(self):
        table = tidy(messy(), "outcome", drop=["visit", "zip"], category=["grade", "row"], kept=["patient_id"])
        assert table.features == ["row", "site", "size", "grade"] and "patient_id" in table.frame
        assert isinstance(table.frame["grade"].dtype, pd.CategoricalDtype)

    def test_all_problems_are_in_one_message(self):
        frame = messy()
        frame.loc[3, "size"] = "12.3cm"
        frame["other"] = [str(value) for value in np.arange(60) / 3]
        frame.loc[7, "other"] = "~4"
        with pytest.raises(DataError, match=r"'12.3cm' in row 4.*'other' holds numbers, but '~4' in row 8"):
            tidy(frame, "outcome")

    def test_targets(self):
        frame = messy()
        assert not tidy(frame, "grade").is_regression and tidy(frame, "size").is_regression
        assert tidy(frame, "grade", task="regression").frame["grade"].dtype == float
        with pytest.raises(DataError, match=r"'yes', which is not a number|'no', which is not a number"):
            tidy(frame, "outcome", task="regression")
        with pytest.raises(DataError, match="60 different values"):
            tidy(frame, "patient_id")
        with pytest.raises(DataError, match="single value '1'"):
            tidy(frame, "constant")
        with pytest.raises(UsageError, match="outcom"):
            tidy(frame, "outcom")

    def test_rows_without_a_target_are_left_out_and_counted(self):
        frame = messy()
        frame.loc[[1, 5], "outcome"] = None
        table = tidy(frame, "outcome")
        assert len(table.frame) == 58 and table.remarks == ["2 rows without a target left out."]

    def test_classes_that_are_rarer_than_folds(self):
        frame = messy()
        frame.loc[[3, 9], "outcome"] = "unclear"
        table = tidy(frame, "outcome")
        assert table.remarks == ["2 rows of classes with fewer than 5 rows left out: unclear."]
        assert len(table.frame) == 58 and list(table.frame["outcome"].cat.categories) == ["no", "yes"]
        frame["outcome"] = ["unclear", *["yes"] * 59]
        with pytest.raises(DataError, match="one class of at least 5 rows"):
            tidy(frame, "outcome")

    def test_a_table_without_features(self):
        with pytest.raises(DataError, match="no column left that could be a feature: 'constant' is constant"):
            tidy(messy()[["constant", "outcome"]], "outcome")
