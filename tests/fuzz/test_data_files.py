"""Damaged data files: whatever their bytes are, reading one gives a table or an error of one sentence."""

import gzip
import random

import numpy as np
import pandas as pd
import pytest

from mfbench.data.cache import LIMIT_VARIABLE
from mfbench.data.files import read_file
from mfbench.errors import MfbenchError

CSV = b'size,"the colour",wet,kind\n' + b'1.5,red,True,b\n-2,?,False,a\n,"light, blue",True,b\n1e3,red,,a\n' * 3
ARFF = b"""% a comment
@relation 'a b'
@attribute 'the size' real
@attribute colour {red, 'light blue', "it's", '?'}
@attribute note string
@attribute class {yes , no}
@data
1.5,red,'x, y',yes
?,'light blue',"z",no
-3 , 'it\\'s', w, yes
2.5, '?', ?, no
"""
# What formats treat in a special way, and what numbers can become.
TOKENS = [
    *(
        b'"',
        b"'",
        b",",
        b"\t",
        b"\n",
        b"\r",
        b"\0",
        b"\\",
        b"{",
        b"}",
        b"%",
        b"?",
        b"@data\n",
        b"@attribute x ",
        b"\xff",
    ),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", b"inf", b"-nan", b"1e999", b"9" * 5000, b"_", b"0x1", b"PAR1", b"\xff" * 4),
    *("\u2028".encode(), "\u0663".encode(), b"\x80\x80\x80\x80\x80\x01", b"," * 99, b"\n" * 99, b"\x1f\x8b\x08"),
]


def frame():
    return pd.DataFrame(
        {
            "size": [1.5, -2, None, 1000],
            "colour": pd.Categorical(["red", None, "blue", "red"]),
            "wet": pd.array([True, False, True, None], dtype="boolean"),
            "when": pd.to_datetime(["2001-01-01"] * 4).astype("int64"),
            "kind": ["b", "a", "b", "a"],
        },
        index=pd.Index(list("wxyz"), name="row"),
    )


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Return a sound file of every type by its extension."""
    path = tmp_path_factory.mktemp("originals") / "t.parquet"
    frame().to_parquet(path)
    plain = path.with_name("plain.parquet")
    frame().to_parquet(plain, compression=None, index=False)
    return {
        ".csv": [CSV],
        ".tsv": [CSV.replace(b",", b"\t")],
        ".arff": [ARFF],
        ".csv.gz": [gzip.compress(CSV), gzip.compress(CSV) + gzip.compress(b"1,red,,a\n")],
        ".arff.gz": [gzip.compress(ARFF)],
        ".parquet": [path.read_bytes(), plain.read_bytes()],
    }


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Return a damaged copy: a few bytes changed, removed, repeated, or replaced by what means something."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((1, 1, 4, 16, 64)))
        match rng.randrange(7):
            case 0:
                data[start:end] = rng.choice(TOKENS)
            case 1:
                data[start:start] = rng.choice(TOKENS)
            case 2:
                data[start:end] = b""
            case 3:
                data[start:start] = data[start:end] * rng.choice((1, 2, 50))
            case 4:
                data[start:end] = rng.randbytes(end - start)
            case 5 if start < len(data):
                data[start] ^= 1 << rng.randrange(8)
            case 6:
                data = data[: rng.choice((start, len(data)))]
    return bytes(data)


def damaged(content: bytes, extension: str, rng: random.Random) -> bytes:
    """Return a damaged file; of a compressed one, the text is damaged as often as the compressed bytes."""
    if extension.endswith(".gz") and rng.random() < 0.5:
        return gzip.compress(mutated(gzip.decompress(content), rng))
    return mutated(content, rng)


def check(path):
    """Read a file: a table without contradictions, or one sentence that names the file."""
    try:
        dataset = read_file(path)
    except MfbenchError as error:
        text = str(error)
        assert text and "\n" not in text and path.name in text, text
        return
    assert dataset.X.shape == (len(dataset.y), len(dataset.feature_names)) and len(dataset.y)
    assert not np.isinf(dataset.X).any() and len(np.unique(dataset.y)) == len(dataset.class_names) >= 2


def read_many(tmp_path, monkeypatch, originals, extension, seeds):
    monkeypatch.setenv(LIMIT_VARIABLE, "0.001")
    for seed in seeds:
        rng = random.Random(f"{extension} {seed}")
        path = tmp_path / f"seed-{seed}{extension}"
        path.write_bytes(damaged(rng.choice(originals[extension]), extension, rng))
        check(path)
        path.unlink()  # the file of a failure stays, for whoever looks at it


EXTENSIONS = [".csv", ".tsv", ".arff", ".csv.gz", ".arff.gz", ".parquet"]


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_sound_files_are_read(tmp_path, originals, extension):
    for content in originals[extension]:
        (tmp_path / f"t{extension}").write_bytes(content)
        assert len(read_file(tmp_path / f"t{extension}").class_names) == 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_damaged_files(tmp_path, monkeypatch, originals, extension):
    read_many(tmp_path, monkeypatch, originals, extension, range(150))


@pytest.mark.nightly(reason="thousands of damaged files of each type")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_many_damaged_files(tmp_path, monkeypatch, originals, extension):
    read_many(tmp_path, monkeypatch, originals, extension, range(150, 5000))
