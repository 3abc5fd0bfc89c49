"""Text without paths of the home, the working directory and the run."""

from mfbench_claims.writing import HIDDEN, paths_below, paths_of_this_machine


def test_paths_below_a_folder(subtests):
    private = paths_below(["/home/ann", "/home/ann/work", "C:\\Users\\ann"])
    for text, expected in [
        ('File "/home/ann/lib/y.py", line 3', 'File "…/y.py", line 3'),
        ("in /home/ann/work/data/a b.csv", "in …/a b.csv"),
        ("no /home/ann/ClientX/ProjectY/patients.csv: gone", "no …/patients.csv: gone"),
        ("/home/ann/a/b:/home/ann/c/d, /home/ann, /home/annabel/x/y", "…/b:…/d, …, /home/annabel/x/y"),
        (r"C:\Users\ann\t\a.csv, 'C:\\Users\\ann\\a.csv'", "…\\a.csv, '…\\a.csv'"),
        ("gcc -I/home/ann/inc, x=/home/ann/a", "gcc -I…/inc, x=…/a"),
        ("in /home/ann/a b/c or /home/ann", "in …/c or …"),
        ("https://example.org/home/ann/x", "https://example.org/home/ann/x"),
        ("/srv/data/a.csv, scale = self.a/self.b", "/srv/data/a.csv, scale = self.a/self.b"),
    ]:
        with subtests.test(text=text):
            assert private.sub(HIDDEN, text) == expected


def test_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    monkeypatch.chdir(tmp_path)
    private = paths_of_this_machine(tmp_path / "runs")
    text = f"{tmp_path}/somebody/x, {tmp_path}/runs/y and {tmp_path}/z"
    assert private.sub(HIDDEN, text) == "…/x, …/y and …/z"
    assert not private.search("about / and ~3/4 of the rows")
