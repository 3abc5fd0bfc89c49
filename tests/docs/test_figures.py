"""Figures in the documents are those of the stored reports that they come from."""

import hashlib
import json
import re
import tomllib
import zipfile
from collections import Counter

import pytest
from stored_reports import ROOT, prose_of, published_comparison, rows_by_name, tables_of, verdicts_of

from mfbench import load_run
from mfbench.stats.published import ABOVE, COMPARED, UNDECIDED


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


def test_bundles_verified_elsewhere():
    _, *rows = tables_of("docs/reproduction.md")["What was run"][1]
    different, changed = Counter(), 0
    for name, compared, equal, rounding, differing in rows:
        path = ROOT / "reports" / name.partition(",")[0] / "records" / "debian-sid.json"
        record = json.loads(path.read_text(encoding="utf-8"))
        counts = record["counts"]
        assert compared == f"{record['compared']:,} of {record['results']:,}"
        assert [equal, rounding, differing] == [f"{counts[key]:,}" for key in ("equal", "rounding", "different")]
        assert record["sha256"] == hashlib.sha256(path.parents[1].joinpath("claim.zip").read_bytes()).hexdigest()
        different.update(trial["method"] for trial in record["trials"] if trial["outcome"] == "different")
        changed += len(record["changed"])
    words = f"{different['XGB']} results of XGBoost, of another version, {different['LFE']} of LFE"
    assert words in prose_of("docs/reproduction.md") and different.keys() == {"XGB", "LFE", "LMN"}
    assert changed == 0 and different["LMN"] == 1


def test_mean_differences_on_the_uci_sets():
    averages, prose = verdicts_of("reports/uci/report.md"), prose_of("docs/reproduction.md")
    assert {name for name, row in averages.items() if row[2] == "equivalent"} == {"IGT", "RF", "XGB"}
    assert "below" not in {row[2] for row in averages.values()} and {row[0] for row in averages.values()} == {"14"}
    means = {name: row[1].partition(" ") for name, row in averages.items()}
    assert f"IMMIGRATE differs by {means['IGT'][0]} points {means['IGT'][2]}; on immunotherapy" in prose
    shown = "Relief by {} points, ReliefF by {}, Simba by {}, IM4E by {}."
    assert shown.format(*(means[name][0].lstrip("+") for name in ("REL", "RFF", "SIM", "IM4"))) in prose
    assert {averages[name][2] for name in ("REL", "RFF", "SIM", "IM4")} == {"above"}
    frame = published_comparison("reports/uci/report.md", 100, 1 / 9).set_index(["dataset", "method"])
    cell = frame.loc[("immunotherapy", "IGT")]
    assert f"({100 * cell['ours']:.1f}, printed {100 * cell['published']:.1f}) it is {cell['verdict']}" in prose


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


def test_parameters_chosen_per_dataset():
    """Means of rounded figures, so a tenth of a point may be off."""
    nested, chosen = (
        100 * published_comparison(path, folds, 1 / 9).query("method == 'IGT'").set_index("dataset")["difference"]
        for path, folds in (("reports/uci/report.md", 100), ("reports/uci-tuning/report.md", 30))
    )
    stated = re.search(r"the difference from print is then \+([\d.]+)\.", prose_of("docs/reproduction.md"))[1]
    assert float(stated) == pytest.approx(chosen.mean(), abs=0.06)
    gain = re.search(
        r"gains IMMIGRATE ([\d.]+) points on average and up to ([\d.]+);", prose_of("docs/reproduction.md")
    )
    assert float(gain[2]) == pytest.approx((chosen - nested).max(), abs=0.11)


def test_the_manuscript_of_2019():
    averages = verdicts_of("reports/uci-2019/report.md")
    assert {row[2] for row in averages.values()} == {ABOVE, "undecided"}
    above = [name for name, row in averages.items() if row[2] == ABOVE]
    assert len(above) > len(averages) / 2
    prose = prose_of("docs/reproduction.md")
    assert f"IMMIGRATE by {averages['IGT'][1].lstrip('+').replace('[', 'points [', 1)}, Relief and" in prose
    assert averages["REL"][1].split(" ")[0] == averages["RFF"][1].split(" ")[0] == "+12.5"


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
    assert f"has Relief {relief[0].lstrip('+')} and ReliefF {relieff[0].lstrip('+')} points above print" in prose


def test_figures_on_genes():
    path = "reports/gene/report.md"
    frame = published_comparison(path, 30, 1 / 9).set_index("method")
    prose = prose_of("docs/reproduction.md")
    assert set(frame["verdict"]) == {UNDECIDED} and f"none of {len(frame)} methods differs by more than two" in prose
    assert [round(200 * bound) for bound in (frame["error"].min(), frame["error"].max())] == [9, 18]
    assert "which are nine to eighteen points" in prose
    _, *ranked = tables_of(path)["Methods, best average rank first"][0]
    names = [row[0] for row in ranked]
    assert {"XGB", "SVL", "LAS", "RF"} <= set(names[:5]) and len(names) == 21


def test_weights_of_the_true_pair_in_noise():
    """Cells of the report are "0.35 (1)": share of the norm, and rank."""
    header, *cells = tables_of("reports/interaction-noise/report.md")[
        "True interactions: share of the norm, or p (rank)"
    ][0]
    stored = {row[0]: dict(zip(header, row, strict=True)) for row in cells}
    alone = [stored[f"immigrate-noise(noise={level})"] for level in ("0.05", "0.5")]
    shares = {name: [row[name].split(" ")[0] for row in alone] for name in ("IGT", "LFE")}
    prose = prose_of("docs/reproduction.md")
    assert "({} to {}), LFE's does ({} to {})".format(*shares["IGT"], *shares["LFE"]) in prose
    noisy = [row for name, row in stored.items() if name.endswith("n_noise=18)")]
    ranks = {name: [float(row[name].split("(")[1].rstrip(")")) for row in noisy] for name in ("IGT", "IGT-psd")}
    assert f"ranks the pair at best {min(ranks['IGT']):.0f} of 190" in prose and set(ranks["IGT-psd"]) == {1.0}


def test_the_accuracy_of_both_cones_in_noise():
    header, *rows = tables_of("reports/interaction-noise/report.md")["Accuracy, percent: mean ± sd over folds"][0]
    cells = [dict(zip(header, row, strict=True)) for row in rows if row[0].endswith("n_noise=18)")]
    means = [[float(row[name].split(" ")[0].strip("*")) for name in ("IGT", "IGT-psd")] for row in cells]
    differences = [round(elementwise - semi_definite, 1) for elementwise, semi_definite in means]
    stated = re.search(r"first, with ([\d.]+) to ([\d.]+) points less accuracy", prose_of("docs/reproduction.md"))
    assert [min(differences), max(differences)] == [float(number) for number in stated.groups()]


def test_differences_of_sqpfw():
    averages, prose = verdicts_of("reports/sqpfw/report.md"), prose_of("docs/reproduction.md")
    means = {name: row[1].partition(" ") for name, row in averages.items()}
    assert f"({means['SQP-FW'][0]} points {means['SQP-FW'][2]}); Relief ({means['Relief'][0]}) and" in prose
    assert f"Simba ({means['Simba'][0]}) are undecided, MulRelief ({means['MulRel'][0]}) and NCA-D" in prose
    assert f"NCA-D ({means['NCA-D'][0]}) above print" in prose
    assert [averages[name][2] for name in ("SQP-FW", "Relief", "Simba", "MulRel", "NCA-D")] == [
        "equivalent",
        "undecided",
        "undecided",
        "above",
        "above",
    ]
    header, *methods = tables_of("reports/sqpfw/report.md")["Methods, best mean first"][0]
    ranks = {row[0]: float(row[header.index("rank")]) for row in methods}
    assert sorted(ranks, key=ranks.get)[:2] == ["NCA-D", "SQP-FW"] and len(ranks) == 12
    assert f"Its average rank is {ranks['SQP-FW']:.1f} of 12, after NCA-D alone" in prose


def test_figures_of_sqpfw_on_genes():
    path, own = "reports/sqpfw-gene/report.md", "SQP-FW weighted 1NN"
    stored = tables_of(path)
    scores = rows_by_name(stored["Accuracy, percent: mean ± sd over folds"][0])
    genes = rows_by_name(stored["Features used: median over folds (stability)"][0])
    frame = 100 * published_comparison(path, 10, 0.5).pivot(index="dataset", columns="method")[["ours", "published"]]
    sets = ("colon", "leukemia", "prostate")
    for row in (scores[name] for name in sets):
        means = {name: float(cell.split(" ")[0]) for name, cell in row.items()}
        assert means["RFF"] == max(means.values())
    prose = prose_of("docs/reproduction.md")
    used = [float(genes[name][own].split(" ")[0]) for name in sets]
    assert f"keeps {min(used):.0f} to {max(used):.0f} genes" in prose
    gains = frame.xs(own, axis=1, level=1) - frame.xs("1NN", axis=1, level=1)
    for kind, words in (
        ("ours", "by {:.1f}, {:.1f} and {:.1f} points"),
        ("published", "(printed {:.1f}, {:.1f} and {:.1f})"),
    ):
        assert words.format(*gains[kind]) in prose


def test_counts_of_similarity():
    # The marks are those of the report, which had all decimals.
    cells = published_comparison("reports/similarity/report.md", 15, 1 / 4)["cell"]
    above, below, equivalent = (int(cells.str.contains(mark).sum()) for mark in "▲▼=")
    prose = prose_of("docs/reproduction.md")
    counts = f"{above} are above the printed ones, {below} below, and {equivalent} equivalent."
    assert f"Of {len(cells)} comparable figures, {counts}" in prose
    averages = {name: row[2] for name, row in verdicts_of("reports/similarity/report.md").items()}
    assert [name for name, verdict in averages.items() if verdict == "equivalent"] == ["kNN-Euclidean"]
    above = {name.split("(")[1].rstrip(")") for name, verdict in averages.items() if verdict == "above"}
    assert above == {"RBS", "RBS-PSD", "RELIEF-PSD"}
    _, *rows = tables_of("reports/similarity/report.md")["On datasets like these"][0]
    mean, low, high = re.findall(r"[-+][0-9.]+", next(row for row in rows if row[0] == "kNN-A (sRBS)")[2])
    assert f"these fourteen {mean} points for the cosine, 95 % interval {low} to {high})" in prose


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
