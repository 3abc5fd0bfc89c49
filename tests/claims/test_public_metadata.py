from mfbench.run.store.metadata import Reused
from mfbench_claims.writing import public_metadata


def test_whatever_reports_read_stays(make_metadata):
    meta = make_metadata()
    public = public_metadata(meta)
    same = ("protocol", "protocol_key", "profile", "methods", "rules", "only", "shard", "code")
    assert all(getattr(public, name) == getattr(meta, name) for name in same)
    assert public.environment.libraries == meta.environment.libraries and public.environment.command == []
    assert public.report == meta.report and public.seed == meta.seed


def test_nothing_of_the_command_line_stays(make_metadata):
    words = ["mfbench", "suite", r"C:\work\own.toml", "--data-dir=/srv/data", "-j", "3", "--out=/srv/out"]
    public = public_metadata(make_metadata().model_copy(update={"command": words}))
    assert public.command == ["mfbench", "suite", "own", "--profile", "quick"]


def test_where_results_are_from_stays_without_names(make_metadata):
    keys = {"acme-merger-1f": ["a"], "ann.zip (sha256 0123456789ab)": ["b", "c"]}
    bundles, differences = ["ann.zip (sha256 0123456789ab)"], {"ann.zip (sha256 0123456789ab)": "1 worker"}
    reused = Reused(keys=keys, bundles=bundles, differences=differences, passed_over=["acme-2 cannot be read."])
    public = public_metadata(make_metadata().model_copy(update={"reused": reused})).reused
    assert public.keys == {"run 1": ["a"], "bundle 2 (sha256 0123456789ab)": ["b", "c"]}
    assert public.bundles == ["bundle 2 (sha256 0123456789ab)"] == list(public.differences)
    assert public.passed_over == []
