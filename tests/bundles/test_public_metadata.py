from mfbench.bundles.private_text import PrivateText
from mfbench.bundles.public_metadata import public_metadata


def test_whatever_reports_read_stays(make_metadata):
    meta = make_metadata()
    public = public_metadata(meta, PrivateText([], []))
    same = ("protocol", "protocol_key", "profile", "methods", "rules", "only", "share", "code")
    assert all(getattr(public, name) == getattr(meta, name) for name in same)
    assert public.environment.libraries == meta.environment.libraries and public.environment.command == []
    assert public.report == meta.report and public.seed == meta.seed


def test_words_of_another_system(make_metadata):
    words = ["mfbench", "suite", r"C:\work\own.toml", "--add-data", r"file:C:\work\mine.csv", "--only", "iris"]
    public = public_metadata(make_metadata().model_copy(update={"command": words}), PrivateText([], []))
    assert public.command == ["mfbench", "suite", "own.toml", "--add-data", "file:mine.csv", "--only", "iris"]
