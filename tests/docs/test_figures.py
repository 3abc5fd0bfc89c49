"""Figures in the documents are those of the stored reports that they come from."""

import json
import re
import tomllib
import zipfile

import pytest
from stored_reports import ROOT, numbers_in, prose_of, published_comparison, rows_by_name, tables_of, verdicts_of

from mfbench import load_run
from mfbench.stats.published import ABOVE, BELOW, COMPARED, UNDECIDED


def test_the_table_of_what_was_run():
    """Its rows are the list of published reports; trials are those of bundles, where these are in git."""
    _, *rows = tables_of("docs/reproduction.md")["What was run"][0]
    with (ROOT / "reports" / "published.toml").open("rb") as file:
        entries = {entry["folder"]: entry for entry in tomllib.load(file)["report"]}
    assert [re.match(r"\[(.+?)\]\(\.\./reports/\1/report\.md\)", row[0])[1] for row in rows] == list(entries)
    for (_, ran, trials, time, equivalent), (folder, entry) in zip(rows, entries.items(), strict=True):
        words = entry["suite"]
        options = dict(zip(words[1::2], words[2::2], strict=True))
        assert ran.split(", ") == [options[name] for name in ("--profile", "--part") if name in options], folder
        assert time.endswith(", 1 worker") == (" 1 worker." in prose_of(f"reports/{folder}/report.md")), folder
        claim = ROOT / "reports" / folder / "claim.zip"
        if entry.get("bundle") == words:
            manifest = json.loads(zipfile.ZipFile(claim).read("manifest.json"))
            assert trials == f"{manifest['planned']:,}" == f"{manifest['results']:,}", folder
        averages = verdicts_of(f"reports/{folder}/report.md")
        names = sorted(name for name, row in averages.items() if row[2] == "equivalent")
        assert equivalent == (f"{', '.join(names) or 'none'} of {len(averages)}" if averages else ""), folder


def test_mean_differences_on_the_uci_sets():
    header, *rows = tables_of("docs/reproduction.md")["IMMIGRATE: the UCI sets"][0]
    assert header[3:] == list(COMPARED)
    stated = {row[0].split(" (")[0]: row[1:] for row in rows}
    computed = verdicts_of("reports/uci/report.md")
    assert set(stated) == set(computed)
    for method, row in stated.items():
        assert numbers_in(row[0]) == numbers_in(computed[method][1]), method
        assert row[1:] == computed[method][2:], method


def test_how_the_paper_classifies_with_relief_relieff_and_simba():
    """Section 4 of the paper: Euclidean distance and 1-NN, for ReliefF Manhattan distance and k-NN."""
    with (ROOT / "suites" / "uci.toml").open("rb") as file:
        methods = tomllib.load(file)["methods"]
    published = {m["label"]: m for m in methods if "as-published" in m.get("profiles", ["as-published"])}
    assert all(published[name]["classifier"] == "knn(n_neighbors=1)" for name in ("REL", "SIM"))
    assert (published["RFF"]["classifier"], published["RFF"]["weights"]) == ("knn(p=1)", "manhattan")
    assert published["RFF"]["tune"] == {"classifier.n_neighbors": [1, 3, 5]}
    default = {m["label"]: m for m in methods if "full" in m.get("profiles", ["full"])}
    assert [name for name in ("REL", "RFF", "SIM") if default[name] is not published[name]] == ["REL", "RFF"]
    stated = "by one nearest neighbour in Euclidean distance, and with ReliefF by k nearest neighbours in Manhattan"
    prose = prose_of("docs/reproduction.md")
    assert stated in prose and "This run differs for Relief and ReliefF" in prose


def test_soda_and_hiernet():
    frame = published_comparison("reports/uci/report.md", 100, 1 / 9).query("method in ('SOD', 'hIN')")
    differences = 100 * frame.pivot(index="dataset", columns="method", values="difference")[["SOD", "hIN"]]
    prose = prose_of("docs/reproduction.md")
    above = {
        "Haberman (by {:.1f} and {:.1f} points)": "haberman",
        "immunotherapy ({:.1f} and {:.1f})": "immunotherapy",
        "breast cancer of Coimbra ({:.1f} and {:.1f})": "breast-cancer-coimbra",
    }
    for sentence, dataset in above.items():
        assert sentence.format(*differences.loc[dataset]) in prose
    assert f"hierNet also on pima ({differences.loc['pima', 'hIN']:.1f})" in prose
    assert f"SODA is below on MONK 1 ({-differences.loc['monks-1', 'SOD']:.1f})" in prose
    expected = {ABOVE: {("pima", "hIN")}, BELOW: {("monks-1", "SOD")}}
    expected[ABOVE] |= {(name, method) for name in above.values() for method in differences}
    for verdict, cells in expected.items():
        rows = frame[frame["verdict"] == verdict]
        assert set(zip(rows["dataset"], rows["method"], strict=True)) == cells


def test_parameters_chosen_per_dataset():
    """Means of rounded figures, so a tenth of a point may be off."""
    frames = {
        "nested": published_comparison("reports/uci/report.md", 100, 1 / 9),
        "per dataset": published_comparison("reports/uci-tuning/report.md", 30, 1 / 9),
    }
    header, mean, *rows = tables_of("docs/reproduction.md")["IMMIGRATE: the UCI sets"][1]
    assert header[1:] == [*frames, "published"]
    names = {"breast cancer (Coimbra)": "breast-cancer-coimbra", "wholesale customers": "wholesale-customers"}
    for position, frame in enumerate(frames.values(), start=1):
        own = frame[frame["method"] == "IGT"].set_index("dataset")
        assert float(mean[position]) == pytest.approx(100 * own["difference"].mean(), abs=0.06)
        for row in rows:
            matches = [name for name in own.index if name.startswith(names.get(row[0], row[0]))]
            assert float(row[position]) == pytest.approx(100 * own.loc[matches[0], "ours"]), row[0]
            assert float(row[3]) == pytest.approx(100 * own.loc[matches[0], "published"]), row[0]
    close = frames["per dataset"].query("method == 'IGT'")["difference"].abs() < 0.0105
    assert (int(close.sum()), len(close)) == (10, 14)
    assert "within one point on ten of the fourteen sets" in prose_of("docs/reproduction.md")


def test_the_large_sets():
    header, *rows = tables_of("docs/reproduction.md")["IMMIGRATE: the UCI sets"][2]
    frame = published_comparison("reports/uci-quick/report.md", 5, 1 / 4).set_index(["dataset", "method"])
    for (_, *stated), dataset in zip(rows, ("waveform-21-igt", "electrical-grid"), strict=True):
        own = frame.loc[dataset].loc[header[1:]]
        assert [float(cell.strip("*")) for cell in stated] == pytest.approx(list(100 * own["difference"]))
    others = re.search(r"Of the others, (.*?)\. \*\*The paper", prose_of("docs/reproduction.md"))[1]
    decided = frame[frame["verdict"].isin([ABOVE, BELOW])].loc[["waveform-21-igt", "electrical-grid"]].reset_index()
    beside = decided[~decided["method"].isin(header[1:])]
    assert set(numbers_in(others)) == {round(100 * difference, 1) for difference in beside["difference"]}
    source = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    for name, dataset in (("waveform", "waveform-21-igt"), ("electrical grid", "electrical-grid")):
        cells = re.search(rf"^\| {name} \|(.+)\|$", source, re.MULTILINE)[1].split("|")
        bold = [method for method, cell in zip(header[1:], cells, strict=True) if "**" in cell]
        own = frame.loc[dataset].loc[header[1:]]
        assert bold == list(own.index[own["verdict"].isin([ABOVE, BELOW])]), name


def test_the_manuscript_of_2019():
    prose = re.search(r"\*\*The manuscript of 2019\*\* (.*?) \*\*MONK 1", prose_of("docs/reproduction.md"))[1]
    averages = verdicts_of("reports/uci-2019/report.md")
    assert {row[2] for row in averages.values()} == {ABOVE, "undecided"}
    assert f"IMMIGRATE by {averages['IGT'][1].lstrip('+').replace('[', 'points [', 1)}" in prose
    assert averages["REL"][1].split(" ")[0] == averages["RFF"][1].split(" ")[0] == "+12.5"
    assert f"support vector machine by {averages['SV1'][1].split(' ')[0].lstrip('+')};" in prose
    undecided = {name for name, row in averages.items() if row[2] == "undecided"}
    assert undecided == {"NBC", "1NN", "LFE", "IGS", "ADB", "SOD"}
    _, *ranked = tables_of("reports/uci-2019/report.md")["Methods, best average rank first"][0]
    assert [row[0] for row in ranked].index("IGT") == 5 and ranked[0][0] == "SV2" and len(ranked) == 20
    header, *rows = tables_of("reports/uci-2019/report.md")["Across 20 datasets, IGT against each method"][0]
    better = {row[0] for row in rows if row[header.index("verdict")] == "IGT better"}
    assert better == {"IGS", "REL", "SIM", "1NN", "3NN", "LFE", "NBC"}


def test_the_protocol_of_the_paper():
    path, prose = "reports/uci-as-published/report.md", prose_of("docs/reproduction.md")
    averages = verdicts_of(path)
    groups = {verdict: {name for name, row in averages.items() if row[2] == verdict} for verdict in COMPARED}
    assert groups["equivalent"] == {"IGT", "RF", "XGB"} and groups["below"] == {"BIM"}
    assert groups["undecided"] == {"LFE", "1NN", "3NN", "LMN", "SOD", "NBC", "LDA", "ADB"}
    assert len(groups["above"]) == 10 and {row[0] for row in averages.values()} == {"14"}
    own, boosted, relief, relieff = (averages[name][1].partition(" ") for name in ("IGT", "BIM", "REL", "RFF"))
    assert f"differs by {own[0]} points {own[2]}, which is equivalent" in prose
    assert f"BIM is below print, by {boosted[0].lstrip('-')} {boosted[2]}, although" in prose
    assert f"Relief by {relief[0].lstrip('+')} and ReliefF by {relieff[0].lstrip('+')}. Over" in prose
    _, *ranked = tables_of(path)["Methods, best average rank first"][0]
    assert [row[0] for row in ranked].index("IGT") == 6 and ranked[0][0] == "SV2" and len(ranked) == 24
    header, *rows = tables_of(path)["Across 17 datasets, IGT against each method"][0]
    better = {row[0] for row in rows if row[header.index("verdict")] == "IGT better"}
    assert better == {"IGS", "REL", "SIM", "1NN", "3NN", "LFE", "NBC"}


def test_figures_on_genes():
    path = "reports/gene/report.md"
    frame = published_comparison(path, 30, 1 / 9).set_index("method")
    header, ours, minus = tables_of("docs/reproduction.md")["IMMIGRATE: gene expression"][0]
    assert header[1:] == list(frame.index)
    assert [float(cell) for cell in ours[1:]] == pytest.approx(list(100 * frame["ours"]))
    assert [float(cell) for cell in minus[1:]] == pytest.approx(list(100 * frame["difference"]))
    prose = prose_of("docs/reproduction.md")
    assert set(frame["verdict"]) == {UNDECIDED} and "None differs by more than two standard errors" in prose
    assert [round(200 * bound) for bound in (frame["error"].min(), frame["error"].max())] == [9, 18]
    assert "two standard errors are nine to eighteen points" in prose
    assert frame["difference"].abs().idxmax() == "NBC"
    _, *ranked = tables_of(path)["Methods, best average rank first"][0]
    names = [row[0] for row in ranked]
    assert names[:6] == ["XGB", "SVL", "FSC-SVL", "LAS", "RF", "REL"] and names.index("EGT") == 7 and len(names) == 21
    # Which method on which dataset is in no table of the report.
    wins, losses = {"NBC": 2, "IM4": 1, "DT": 1, "SV1": 1, "VAR": 1, "DUM": 3}, {"XGB": 1, "SVL": 1}
    expected = {name: (wins.get(name, 0), losses.get(name, 0)) for name in names if name != "B4G"}
    header = tables_of(path)["Methods, best average rank first"][0][0]
    counts = {row[0]: row[header.index("sound W/T/L")].split("/") for row in ranked if row[0] != "B4G"}
    assert {name: (int(count[0]), int(count[2])) for name, count in counts.items()} == expected


NOISE = {"the two features alone (2020)": "{}", "the two features alone (2019)": "{}, version=2019"}
WITH_NOISE_FEATURES = "{}, n_noise=18"
LABELS = {
    "IMMIGRATE": "IGT",
    "IMMIGRATE, cone `nonneg` (2020)": "IGT",
    "IMMIGRATE, cone `psd` (2019)": "IGT-psd",
    "LFE": "LFE",
    "logistic regression, p of the product": "LOG",
    "pairs of XGBoost": "XGP",
    "hierNet": "hIN",
    "SODA": "SOD",
}


def test_weights_of_the_true_pair_in_noise():
    """Cells of the report are "0.35 (1)" or "p 0.2 (1)": share of the norm or p-value, and rank."""
    header, *cells = tables_of("reports/interaction-noise/report.md")[
        "True interactions: share of the norm, or p (rank)"
    ][0]
    stored = {row[0]: dict(zip(header, row, strict=True)) for row in cells}
    _, *rows = tables_of("docs/reproduction.md")["IMMIGRATE: an interaction in noise"][0]
    data = ""
    for name, method, at_5, at_50, rank in rows:
        data = name or data
        pattern = f"immigrate-noise(noise={NOISE.get(data, WITH_NOISE_FEATURES)})"
        shown = {level: stored[pattern.format(level)][LABELS[method]] for level in ("0.05", "0.5")}
        assert [cell.removeprefix("p ").split(" ")[0] for cell in shown.values()] == [at_5, at_50], (data, method)
        if rank:
            levels = [name for name in stored if name.endswith("n_noise=18)")]
            ranks = [float(stored[name][LABELS[method]].split("(")[1].rstrip(")")) for name in levels]
            bounds = [float(number) for number in re.findall(r"[\d.]+", rank.split(" of ")[0])]
            assert (min(ranks), max(ranks)) == (bounds[0], bounds[-1]), (data, method)


def test_the_accuracy_of_both_cones_in_noise():
    header, *rows = tables_of("reports/interaction-noise/report.md")["Accuracy, percent: mean ± sd over folds"][0]
    means = [{name: float(cell.split(" ")[0]) for name, cell in zip(header[1:3], row[1:3], strict=True)}
             for row in rows if row[0].endswith("n_noise=18)")]  # fmt: skip
    differences = [round(row["IGT"] - row["IGT-psd"], 1) for row in means]
    stated = re.search(r"always does, with ([\d.]+) to ([\d.]+) points less accuracy", prose_of("docs/reproduction.md"))
    assert [min(differences), max(differences)] == [float(number) for number in stated.groups()]


def test_differences_of_sqpfw():
    frame = published_comparison("reports/sqpfw/report.md", 10, 0.5)
    columns = {"SQP-FW": "SQP-FW", "Relief": "Relief", "Simba": "Simba", "MulRelief": "MulRel", "NCA-D": "NCA-D"}
    header, *rows = tables_of("docs/reproduction.md")["SQP-FW"][0]
    assert header[1:] == list(columns)
    averages = verdicts_of("reports/sqpfw/report.md")
    by_row = {row[0]: row[1:] for row in rows}
    differences = frame.pivot(index="dataset", columns="method", values="difference")
    for position, method in enumerate(columns.values()):
        stated = [
            float(cells[position])
            for name, cells in by_row.items()
            if name and name not in ("mean", "90 % interval of the mean", "on average")
        ]
        assert sorted(stated) == pytest.approx(sorted(100 * differences[method]), abs=0.11)
        mean, interval = (by_row[name][position] for name in ("mean", "90 % interval of the mean"))
        assert [f"{mean} {interval}", by_row["on average"][position]] == averages[method][1:3]
    header, *ranked = tables_of("reports/sqpfw/report.md")["Methods, best average rank first"][0]
    ranks = {row[0]: float(row[header.index("rank")]) for row in ranked}
    assert list(ranks)[:2] == ["NCA-D", "SQP-FW"] and len(ranks) == 12
    assert f"its average rank is {ranks['SQP-FW']:.1f} of 12, after NCA-D alone" in prose_of("docs/reproduction.md")


def test_figures_of_sqpfw_on_genes():
    path, own = "reports/sqpfw-gene/report.md", "SQP-FW weighted 1NN"
    stored = tables_of(path)
    scores = rows_by_name(stored["Accuracy, percent: mean ± sd over folds"][0])
    genes = rows_by_name(stored["Features used: median over folds (stability)"][0])
    frame = 100 * published_comparison(path, 10, 0.5).pivot(index="dataset", columns="method")[["ours", "published"]]
    _, *rows = tables_of("docs/reproduction.md")["SQP-FW"][1]
    for row, dataset in zip(rows, ("colon", "leukemia", "prostate"), strict=True):
        ours, published = (frame.loc[dataset, kind] for kind in ("ours", "published"))
        assert row[1:3] == [f"{ours[name]:.1f} ({published[name]:.1f})" for name in ("1NN", own)]
        assert [f"{row[3].split(' ')[0]} ", f"{row[5]} "] == [
            genes[dataset][name].split("(")[0] for name in (own, "RFF")
        ]
        means = {name: float(cell.split(" ")[0]) for name, cell in scores[dataset].items()}
        assert float(row[4]) == means["RFF"] == max(means.values())
        assert scores[dataset][own].endswith("≈")
    prose = prose_of("docs/reproduction.md")
    gains = frame.xs(own, axis=1, level=1) - frame.xs("1NN", axis=1, level=1)
    for kind, words in (
        ("ours", "by {:.1f}, {:.1f} and {:.1f} points"),
        ("published", "(printed {:.1f}, {:.1f} and {:.1f})"),
    ):
        assert words.format(*gains[kind]) in prose
    assert f"the mean difference, {verdicts_of(path)[own][1]}, says little" in prose


def test_counts_of_similarity():
    rows = tables_of("docs/reproduction.md")["Agreement"][0]
    assert rows[0][2:] == ["not significant", "above", "below"]
    stated = {row[0]: [int(cell) for cell in row[2:]] for row in rows[1:]}
    # The marks are those of the report, which had all decimals.
    frame = published_comparison("reports/similarity/report.md", 15, 1 / 4)
    for table, counts in stated.items():
        cells = frame.loc[frame["table"] == table, "cell"]
        above, below = cells.str.contains("▲").sum(), cells.str.contains("▼").sum()
        assert counts == [len(cells) - above - below, above, below], table
    total = [sum(counts) for counts in zip(*stated.values(), strict=True)]
    text = f"Of {sum(total)} comparable figures, {total[1]} are more than two standard errors above"
    assert text in " ".join((ROOT / "docs/reproduction.md").read_text(encoding="utf-8").split())
    averages = {name: row[2] for name, row in verdicts_of("reports/similarity/report.md").items()}
    assert [name for name, verdict in averages.items() if verdict == "equivalent"] == ["kNN-Euclidean"]
    above = {name.split("(")[1].rstrip(")") for name, verdict in averages.items() if verdict == "above"}
    assert above == {"RBS", "RBS-PSD", "RELIEF-PSD"}
    header, *rows = tables_of("reports/similarity/report.md")["Across 14 datasets, kNN-cosine against each method"][0]
    own = dict(zip(header, next(row for row in rows if row[0] == "kNN-A (sRBS)"), strict=True))
    assert f"mean difference {own['mean'].lstrip('-')[:3]} points over fourteen datasets, p = {own['p']})" in prose_of(
        "docs/reproduction.md"
    )


RELEVANCE = {
    'RFVM, `preset="paper"`': "RFP",
    "RFVM, the default": "RFV",
    "linear RVM": "RVM",
    "FVM, the default": "FVM",
    "P-SVM, the default": "PSV",
    "plain ranking, the default": "RNK",
}


def test_detection_in_a_hundred_rounds():
    stored = tables_of("reports/detection-relevance/report.md")
    tables = next(
        tables
        for tables in tables_of("docs/reproduction.md").values()
        for rows in tables
        if "simulation 4.1" in rows[0]
    )
    (header, *rows) = next(rows for rows in tables if "simulation 4.1" in rows[0])
    assert {row[0] for row in rows} == set(RELEVANCE)
    for position, number in ((header.index("simulation 4.1"), 1), (header.index("simulation 4.2"), 2)):
        names, *cells = stored[f"rfvm-simulation-{number}(n_samples=1000): mean ± half-width of the interval"][0]
        by_method = {row[0]: dict(zip(names, row, strict=True)) for row in cells}
        for row in rows:
            own = by_method[RELEVANCE[row[0]]]
            shown = [own[name].removesuffix(" ± 0.00") for name in ("detection", "false alarms", "false discoveries")]
            assert row[position].split(", ") == shown, row[0]


def test_charts_of_stored_reports_exist():
    for page in ROOT.glob("reports/*/README.md"):
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page, target)


def test_the_findings_of_the_readme():
    text = prose_of("README.md")
    run = load_run(ROOT / "reports" / "uci-quick" / "claim.zip")
    claims, scores = run.overall().claims, run.scores.pivot(index="dataset", columns="method", values="mean")
    apart = [
        set(own["second"][own[column] < claims.alpha])
        for own, column in (
            (claims.against("SV2", claims.these), "holm"),
            (claims.against("SV2", claims.like_these), "adjusted"),
        )
    ]
    assert f"than {len(apart[0])} of 26 methods" in text and f"better than {len(apart[1])} methods" in text
    assert set(claims.methods) - apart[0] == {"SV2", "BIM", "IGT", "XGB", "IM4", "RF"}
    monk = (100 * scores.loc["monks-2"]).round(1)
    assert monk["IGT"] == monk["SV2"] == 100.0 and monk["LAS"] == monk["DUM"]
    assert f"XGBoost on {monk['XGB']} %; the lasso on {monk['LAS']} %" in text
    gains = claims.against("RFF", claims.these).set_index("second")
    own = (100 * gains.loc["3NN", ["mean", "low", "high"]].astype(float)).round(1)
    assert f"{own['mean']} points better than three neighbours on all features" in text
    assert f"(95 % interval {own['low']} to {own['high']})" in text
    assert f"{100 * gains.loc['RND', 'mean']:.1f} better than random features" in text
    assert (gains.loc[["3NN", "RND"], "holm"] < claims.alpha).all() and gains.loc["FSC", "holm"] >= claims.alpha
    summary = run.summary().set_index("method")
    seconds = summary["total_seconds"] / summary["planned"]
    assert f"takes {seconds['IGT']:.1f} s" in text and f"{1000 * seconds['XGB']:.0f} ms" in text
    assert round(100 * summary.loc["IGT", "mean"], 1) == round(100 * summary.loc["XGB", "mean"], 1)
    (tables,) = (
        tables for heading, tables in tables_of("reports/uci/report.md").items() if "IGT against each" in heading
    )
    header, *rows = tables[0]
    assert f"none of {len(rows)} other methods is significantly better" in text
    assert {row[header.index("verdict")] for row in rows} == {"not significant", "IGT better"}


def test_colon_as_published_in_2019():
    (rows, *_) = tables_of("reports/gene-2019/report.md")["Ours/published: IMMIGRATE 2019, table 1, accuracy, percent"]
    header, cells = rows
    pairs = {
        name: [float(x) for x in re.findall(r"[\d.]+", cell)] for name, cell in zip(header[1:], cells[1:], strict=True)
    }
    prose = prose_of("docs/reproduction.md")
    sentence = "IM4E has {} (printed {}), IM4E-IMMIGRATE {} ({}), SODA {} ({})."
    assert sentence.format(*pairs["IM4"], *pairs["EGT"], *pairs["SOD"]) in prose
    differences = {name: round(ours - printed, 1) for name, (ours, printed) in pairs.items()}
    assert len(pairs) == 10 and differences.pop("NBC") == -14.0
    assert f"nine of ten methods on colon are within {max(map(abs, differences.values()))} points of its table" in prose
    assert "naive Bayes is 14 points below" in prose
    undecided = {name for name, row in verdicts_of("reports/gene-2019/report.md").items() if row[5] == "1"}
    assert undecided >= set(differences), "each of these is undecided"


def test_what_leakage_costs():
    _, *rows = tables_of("reports/leakage/report.md")["Mean over datasets"][0]
    measured = {(row[0], row[1]): f"{row[-2].rstrip(' !')} {row[-1]}" for row in rows}
    kinds = ("more rows than features", "more features than rows")
    _, *stated = tables_of("docs/leakage.md")["What to expect"][0]
    assert [row[1:] for row in stated] == [[measured[row[0], kind] for kind in kinds] for row in stated]
    cells = rows_by_name(tables_of("reports/leakage/report.md")["Optimism on each dataset, in percentage points"][0])
    prose = prose_of("docs/leakage.md")

    def ends(dataset):
        values = [
            float(cell.split(" ")[0].replace("−", "-")) for name, cell in cells[dataset].items() if name != "size"
        ]
        return min(values), max(values)

    low, high = ends("audit-design(kind='null', n_samples=60, n_features=2000)")
    assert f"it is {low:.0f} to {high:.0f} points" in prose
    low, high = ends("leukemia")
    assert f"it is {low:.1f} to {high:.1f} points".replace("-", "−") in prose
    choices = rows_by_name(
        tables_of("reports/leakage/report.md")["Choosing the best of many methods by the reported folds"][0]
    )
    values = [float(row["optimism"]) for name, row in choices.items() if "null" in name]
    assert f"{min(values):.0f} to {max(values):.0f} points on the data without signal" in prose


def test_probes_that_are_kept():
    rows = rows_by_name(
        tables_of("reports/probes/report.md")["Probes that were selected: mean over datasets and folds"][0]
    )
    kept = {name: row["of the probes"] for name, row in rows.items()}
    assert {kept[name] for name in ("F-test", "MI", "JMI", "ReliefF")} == {"18 %", "19 %"}
    stated = f"keep 18 to 19 %, a forest {kept['forest']}, mRMR {kept['mRMR']} and MultiSURF {kept['MultiSURF']}"
    assert stated in prose_of("docs/data.md")


def test_no_audited_selector_breaks_its_promise():
    rows = rows_by_name(tables_of("reports/audit/report.md")["Verdicts over all designs"][0])
    assert len(rows) == 12 and {row["verdict"] for row in rows.values()} == {"undecided"}
