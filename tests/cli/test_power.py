"""`mfbench power`: a run is found, and what cannot be answered is one sentence."""

import pytest

from mfbench.cli import main


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["power"], "Missing argument 'RUN'"),
        (["power", "uci"], "Missing option '--difference'"),
        (["power", "nowhere", "--difference", "1"], "holds no run"),
    ],
)
def test_the_command_line_names_the_mistake(words, part, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert part in capsys.readouterr().err
