"""Text without what is private: paths of any system, and names of machines and users."""

import pytest

from mfbench.bundles.private_text import PrivateText

PRIVATE = PrivateText(["/home/ann", "/home/ann/work"], ["annabel", "bigbox", "root", "bo"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('File "/opt/conda/lib/python3.12/site-packages/x/y.py", line 3', 'File "…/y.py", line 3'),
        ("no /srv/data/a.csv: gone", "no …/a.csv: gone"),
        ("in /home/ann/work/data/a b.csv", "in …/data/a b.csv"),
        ('"/Users/Ann Lee/a b.csv" is empty', '"…/a b.csv" is empty'),
        (r"C:\Users\ann\a.csv is empty", "…/a.csv is empty"),
        (r"'D:\\data\\my table.csv'", "'…/my table.csv'"),
        (r"\\server\share\x.csv", "…/x.csv"),
        ("~/data/a.csv", "…/a.csv"),
        ("file:///srv/a/b.csv", "…/b.csv"),
        ("annabel@bigbox", "…@…"),
        ("as root, bo's annabelle", "as root, bo's annabelle"),
        ("https://example.org/a/b.csv 1/2 and/or a / b", "https://example.org/a/b.csv 1/2 and/or a / b"),
        ("x=/home/ann/a", "x=…/a"),
    ],
)
def test_what_is_removed(text, expected):
    assert PRIVATE.removed(text) == expected
    assert PRIVATE.removed(expected) == expected


def test_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    monkeypatch.setattr("platform.node", lambda: "bigbox.example.org")
    monkeypatch.setattr("getpass.getuser", lambda: "annabel")
    private = PrivateText.of_this_machine(tmp_path / "runs")
    assert private.removed(f"{tmp_path}/somebody/x, {tmp_path}/runs/y by annabel on bigbox") == "…/x, …/y by … on …"
    assert private.leak("seen on bigbox.example.org") == "bigbox.example.org"
    monkeypatch.setattr("getpass.getuser", lambda: {}["uid"])
    assert "annabel" not in PrivateText.of_this_machine().names
