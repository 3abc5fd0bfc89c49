"""Text without what is private: paths of any system, and names of machines and users."""

from mfbench_claims.private_text import PrivateText

PRIVATE = PrivateText(["/home/ann", "/home/ann/work"], ["annabel", "bigbox", "root", "bo", "vm"])


def test_what_is_removed(subtests):
    for text, expected in [
        ('File "/opt/conda/lib/python3.12/site-packages/x/y.py", line 3', 'File "…/y.py", line 3'),
        ("no /srv/data/a.csv: gone", "no …/a.csv: gone"),
        ("in /home/ann/work/data/a b.csv", "in …/a b.csv"),
        ("no /home/ann/ClientX/ProjectY/patients.csv: gone", "no …/patients.csv: gone"),
        ("--out=/home/ann/work/Client X/a/ and -/home/ann/b/c", "--out=…/a and -…/c"),
        ('File "/home/ann/Client X/b c.py", line 3', 'File "…/b c.py", line 3'),
        ("/home/ann/a/b:/home/ann/c/d, /home/ann, /home/annabel/x/y", "…/b:…/d, …, …/y"),
        ('"/Users/Ann Lee/a b.csv" is empty', '"…/a b.csv" is empty'),
        (r"C:\Users\ann\a.csv is empty", "…/a.csv is empty"),
        (r"'D:\\data\\my table.csv'", "'…/my table.csv'"),
        (r"\\server\share\x.csv", "…/x.csv"),
        ("~/data/a.csv", "…/a.csv"),
        ("file:///srv/a/b.csv", "…/b.csv"),
        ("annabel@bigbox", "…@…"),
        ("as root, Bo's annabelle on VM, not bob", "as root, …'s annabelle on …, not bob"),
        ("annabel_tmp, vm_1", "…_tmp, vm_1"),
        ("https://example.org/a/b.csv 1/2 and/or a / b", "https://example.org/a/b.csv 1/2 and/or a / b"),
        ("x=/home/ann/a", "x=…/a"),
        ("cannot open:/scratch/bob/x", "cannot open:…/x"),
        ("PATH=a:/home/other/bin", "PATH=…/bin"),
        ("gcc -I/scratch/bob/inc -L~/lib/z", "gcc -I…/z"),
        ("no /data/Secret Project X/file.csv", "no …/file.csv"),
        ("no C:/Users/bob/x y/z.csv here", "no …/z.csv here"),
        ("in ../secret-client/data.csv", "in …/data.csv"),
        ("no /a/b or /c/d", "no …/b or …/d"),
        ("(x)/2 and 3/4 ... or ..., f(a)/g(b)", "(x)/2 and 3/4 ... or ..., f(a)/g(b)"),
        ("https://bob:tok3n@host/x?key=abc.", "https://host/x."),
        ("(see https://example.org/dataset/53/bo)", "(see https://example.org/dataset/53/bo)"),
        ("https://vm:8888/lab#t tcp://vm:12", "https://…/lab …/…:12"),
        ("sqlite:////srv/secret/x.db", "…/x.db"),
        ("""no "/home/ann/Client's files/Merger/data.csv" """, 'no "…/data.csv" '),
        ("""no "/mnt/O'Brien/Merger/data.csv" """, 'no "…/data.csv" '),
        ("No such file or directory: 'clients/Acme/my data.csv'", "No such file or directory: '…/my data.csv'"),
        ("can't read 'x' at data/acme-merger/x.csv, clients\\Acme\\y.txt", "can't read 'x' at …/x.csv, …/y.txt"),
        ("gcc -I../../clients/Acme/inc", "gcc -I…/inc"),
        ("http://bigbox.corp.example:8080/x on bigbox.corp.example", "http://…/x on ….corp.example"),
        ("file:///mnt/acme/my data/x.csv, file:///C:/acme/y.csv", "…/x.csv, …/y.csv"),
        ("[1]file:///mnt/Acme/m/x.csv (a)FILE:///mnt/Acme M/x.csv", "[1]…/x.csv (a)…/x.csv"),
        ("'file:///mnt/a b/c d.csv' -file:///mnt/Acme/merger", "'…/c d.csv' -…/merger"),
        ("no clients/Acme Corp/data.csv: b'clients/Acme/a b.7z'", "no …/data.csv: b'…/a b.7z'"),
        ('f"clients/Acme Corp/a.csv" ~bob/2.csv', 'f"…/a.csv" …/2.csv'),
        *[
            (text, text)
            for text in (
                "scale = self.a/self.b",
                "step = 1/self.n_iter",
                "x = num/den.sum()",
                "return X/X.sum(axis=1)/a.log(x)",
                'raise ValueError("X and/or y contain NaN; use np.isnan")',
                "mfbench/0.5.dev1",
                "'3/4.x' and 'CD4/CD8.ratio'",
                "signal/noise.Next sentence",
                "About ~n/2 of the rows, ~n/10.",
            )
        ],
        ("~3/4 of the rows, n/a. Then, and/or, 1/2.5, 'a / b'", "~3/4 of the rows, n/a. Then, and/or, 1/2.5, 'a / b'"),
    ]:
        with subtests.test(text=text, expected=expected):
            assert PRIVATE.removed(text) == expected
            assert PRIVATE.removed(expected) == expected


def test_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    monkeypatch.setattr("platform.node", lambda: "bigbox.example.org")
    monkeypatch.setattr("getpass.getuser", lambda: "annabel")
    private = PrivateText.of_this_machine(tmp_path / "runs")
    assert private.removed(f"{tmp_path}/somebody/x, {tmp_path}/runs/y by annabel on bigbox") == "…/x, …/y by … on …"
    assert private.removed("seen on BIGBOX.example.org") == "seen on …"
    # A dataset or a method may be called as the user or the machine is.
    assert private.leak("annabel on bigbox.example.org") is None
    assert private.leak(f"in {tmp_path}/runs/x") == f"{tmp_path}/runs/x"
    monkeypatch.setattr("getpass.getuser", lambda: {}["uid"])
    assert "annabel" not in PrivateText.of_this_machine().names


def test_folders_of_one_part_are_no_part_of_an_address(monkeypatch):
    monkeypatch.setenv("MFBENCH_DATA_DIR", "/dataset")
    private = PrivateText.of_this_machine()
    address = "https://example.org/dataset/53"
    assert private.removed(f"{address} in /dataset") == f"{address} in …" and private.leak(address) is None
    assert private.leak("x(path='/dataset')") == "/dataset"


def test_paths_in_parameters_are_found_whoever_has_them(subtests):
    for path in [
        "/mnt/alice/x",
        "C:\\secret\\a",
        "D:/x",
        "\\\\server\\share",
        "~/x",
        "~bob/x",
        "file:/srv/x/y",
        "-I/srv/x",
        "sqlite:////srv/x",
    ]:
        with subtests.test(path=path):
            assert PRIVATE.leak(f"sel(path='{path}')") and PRIVATE.leak(path)


def test_what_is_not_a_path(subtests):
    for text in [
        "a/b/c",
        "https://example.org/a/b",
        "knn(k=1/2)",
        "10.1000/182",
        "/x",
        "mod.part:Class",
        "and / or",
        "(a)/b/c",
        "about ~3/4 of the rows",
    ]:
        with subtests.test(text=text):
            assert PRIVATE.leak(text) is None
