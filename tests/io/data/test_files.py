"""Data files: what is in them arrives, and what cannot be used is refused in one line."""

import io
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from maxmargin import InvalidInputError, MissingExtraError
from maxmargin.io import read_data
from tests.io.models import samples

TABLE = "width,height,kind\n1.0,2.5,bird\n3.0,0.5,fish\n-1e-3,.5,bird\n"


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# ---------------------------------------------------------------- CSV


def test_a_csv_file_with_names_and_text_labels(tmp_path):
    data = read_data(written(tmp_path, "a.csv", TABLE))
    np.testing.assert_array_equal(data.X, [[1.0, 2.5], [3.0, 0.5], [-1e-3, 0.5]])
    assert data.y.tolist() == ["bird", "fish", "bird"]
    assert data.feature_names == ("width", "height")


@pytest.mark.parametrize("target", ["height", 1, "1", -2])
def test_the_target_by_name_or_number(target, tmp_path):
    text = TABLE.replace("bird", "7").replace("fish", "8")
    data = read_data(written(tmp_path, "a.csv", text), target=target)
    np.testing.assert_array_equal(data.X, [[1.0, 7], [3.0, 8], [-1e-3, 7]])
    assert data.y.tolist() == [2.5, 0.5, 0.5]


@pytest.mark.parametrize("separator", [",", ";", "\t", ", "])
def test_a_csv_file_without_names(separator, tmp_path):
    text = "\n".join(separator.join(line) for line in (["1", "2", "0"], ["3", "4", "1"])) + "\r\n\n"
    data = read_data(written(tmp_path, "a.csv", text))
    np.testing.assert_array_equal(data.X, [[1.0, 2.0], [3.0, 4.0]])
    assert data.y.tolist() == [0, 1]
    assert data.y.dtype == np.int64
    assert data.feature_names is None


def test_a_header_of_numbers_can_be_said(tmp_path):
    path = written(tmp_path, "a.csv", "1,2,3\n4,5,6\n7,8,9\n")
    assert read_data(path, header=True).feature_names == ("1", "2")
    assert len(read_data(path).X) == 3
    assert len(read_data(written(tmp_path, "b.csv", "a,b,c\n4,5,6\n"), header=True, target="b").X) == 1


def test_quotes_and_marks_of_other_programs(tmp_path):
    data = read_data(written(tmp_path, "a.csv", '\ufeff"a, b",kind\n"1.5","x ""y"""\n2,z\n'))
    assert data.feature_names == ("a, b",)
    assert data.y.tolist() == ['x "y"', "z"]


def test_data_for_a_model_may_come_without_labels(tmp_path):
    path = written(tmp_path, "a.csv", "1,2\n3,4\n")
    assert read_data(path, n_features=2).y is None
    assert read_data(path, n_features=1).y.tolist() == [2, 4]
    named = written(tmp_path, "b.csv", TABLE)
    data = read_data(named, feature_names=["height", "width"])
    np.testing.assert_array_equal(data.X, [[2.5, 1.0], [0.5, 3.0], [0.5, -1e-3]])
    assert data.y.tolist() == ["bird", "fish", "bird"]
    assert read_data(written(tmp_path, "c.csv", "b,a\n1,2\n"), feature_names=["a", "b"]).y is None


@pytest.mark.parametrize(
    ("text", "target", "words"),
    [
        ("", None, "empty"),
        ("\n\n", None, "no lines"),
        ("a,b\n", None, "no samples"),
        (TABLE, "colour", "no column 'colour'; there are width, height, kind"),
        (TABLE, 3, "no column 3"),
        ("1,2\n3,4\n", "kind", "no column 'kind'"),
        (TABLE.replace("2.5", ""), None, "sample 1, column 'height': the value is missing"),
        (TABLE.replace("2.5", "NaN"), None, "missing"),
        (TABLE.replace("2.5", "inf"), None, "'inf' is no finite number"),
        (TABLE.replace("2.5", "1_0"), None, "'1_0' is no finite number"),
        (TABLE.replace("0.5", "red"), None, "sample 2, column 'height': 'red' is no finite number"),
        (TABLE.replace("fish", ""), None, "a label is missing"),
        (TABLE.replace(",fish", ""), None, "sample 2 has 2 fields where 3"),
        (TABLE.replace("width", "height"), None, "two columns are called 'height'"),
        (b"\x00\x01\xff" * 50, None, "no text file"),
        (b"\xff\xfe,1\n", None, "no text file"),
        ("one\ntwo\n", None, "no features"),
        ('"a,1\n', None, "no CSV"),
    ],
)
def test_what_is_wrong_with_a_csv_file_is_said_in_one_line(text, target, words, tmp_path):
    path = written(tmp_path, "a.csv", text)
    with pytest.raises(InvalidInputError) as caught:
        read_data(path, target=target)
    assert words in str(caught.value)
    assert "a.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- svmlight


def test_an_svmlight_file(tmp_path):
    X, y = samples(3)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dump_svmlight_file(X, y, str(tmp_path / "a.svmlight"), zero_based=False)
    data = read_data(tmp_path / "a.svmlight")
    assert sp.issparse(data.X)
    np.testing.assert_allclose(data.X.toarray(), X, rtol=1e-12)
    assert data.y.dtype == np.int64
    assert data.y.tolist() == y.tolist()
    wide = read_data(tmp_path / "a.svmlight", n_features=10)
    assert wide.X.shape == (24, 10)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 1:1\nx 1:1\n", "line 2: 'x' is no label"),
        ("1,2 1:1\n", "single numbers"),
        ("1 1:1\n-1 1:x\n", "line 2: '1:x' where index:value is wanted"),
        ("1 1:nan\n", "NaN or infinite"),
        ("1 2:1 1:1\n", "line 1: index 1 follows 2"),
        ("1 1:1\n-1 4000000000:1\n", "line 2: index 4000000000 is too large; the largest is 2147483647"),
        ("1 1:1 99999999999:1\n", "line 1: index 99999999999 is too large"),
        ("1 1:1 999999999:1\n", "pass n_features=999999999"),
        ("1 1:1e999\n", "NaN or infinite"),
        ("1e999 1:1\n", "infinite"),
        ("# nothing\n\n", "no samples"),
        ("1 5:1\n", "the model has 3 features"),
    ],
)
def test_what_is_wrong_with_an_svmlight_file_is_said_in_one_line(text, words, tmp_path):
    path = written(tmp_path, "a.svmlight", text)
    with pytest.raises(InvalidInputError) as caught:
        read_data(path, n_features=3 if "the model has 3 features" in words else None)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- npz and Parquet


def test_an_npz_file_keeps_its_precision(tmp_path):
    X, y = samples(2)
    np.savez_compressed(tmp_path / "a.npz", X=X.astype(np.float32), y=np.array(["no", "yes"])[y], group=y)
    data = read_data(tmp_path / "a.npz")
    assert data.X.dtype == np.float32
    assert set(data.y) == {"no", "yes"}
    assert read_data(tmp_path / "a.npz", target="group").y.tolist() == y.tolist()
    np.savez(tmp_path / "b.npz", X=X)
    assert read_data(tmp_path / "b.npz").y is None


def npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (lambda: npz(Z=np.zeros(3)), "no array 'X' in it; there are 'Z'"),
        (lambda: npz(X=np.zeros(3)), "X has shape (3,)"),
        (lambda: npz(X=np.array([[object()]]), y=np.zeros(1)), "Object arrays"),
        (lambda: npz(X=np.zeros((3, 2)), y=np.zeros(2)), "wanted 3 labels"),
        (lambda: npz(X=np.full((3, 2), np.nan), y=np.zeros(3)), "NaN"),
        (lambda: npz(X=np.zeros((3, 2)), y=np.full(3, np.nan)), "label is missing"),
        (lambda: b"PK\x03\x04 garbage", "no npz file"),
        (lambda: npz(X=np.zeros((3, 2)))[:-30], "no npz file"),
    ],
)
def test_what_is_wrong_with_an_npz_file_is_said_in_one_line(content, words, tmp_path):
    path = written(tmp_path, "a.npz", content())
    with pytest.raises(InvalidInputError) as caught:
        read_data(path)
    assert words in str(caught.value)


def test_an_npz_file_that_promises_more_than_it_holds_is_refused(tmp_path):
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", out.getvalue())
    with pytest.raises(InvalidInputError, match=r"size that it says|no npz file"):
        read_data(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "b.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", b"\0" * (30 << 20))
    with pytest.raises(InvalidInputError, match="more than the limit"):
        read_data(tmp_path / "b.npz", max_bytes=1 << 20)


def test_an_npz_file_that_takes_too_much_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(np.lib.format, "read_array", lambda *_, **__: pytest.fail("unpacked"))
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((3000, 2)))
    with pytest.raises(InvalidInputError, match="array 'X' takes"):
        read_data(tmp_path / "a.npz", max_bytes=40_000)


def test_an_npz_file_whose_shapes_do_not_fit_is_refused(tmp_path):
    path = written(tmp_path, "a.npz", npz(X=np.zeros((3, 2)), y=np.zeros(2)))
    with pytest.raises(InvalidInputError, match="wanted 3 labels"):
        read_data(path)
    with pytest.raises(InvalidInputError, match="2 features where 4 are wanted"):
        read_data(path, n_features=4)
    np.savez_compressed(tmp_path / "b.npz", X=np.zeros((3000, 2)), y=np.zeros(3000))
    with pytest.raises(InvalidInputError, match="array 'y' takes"):  # the limit is that of both together
        read_data(tmp_path / "b.npz", max_bytes=3000 * 3 * 8)


def test_a_parquet_file(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'maxmargin[parquet]'")
    from pyarrow import parquet

    columns = {"a": pa.array([1.0, 2.0], pa.float32()), "b": pa.array([3, 4]), "kind": ["x", "y"], "gap": [None, 1.0]}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(InvalidInputError, match="column 'gap' has 1 missing values"):
        read_data(tmp_path / "a.parquet", target="kind")
    with pytest.raises(InvalidInputError, match="no column 'colour'"):
        read_data(tmp_path / "a.parquet", target="colour")
    with pytest.raises(InvalidInputError, match="holds string"):
        read_data(tmp_path / "a.parquet", target="a")
    del columns["gap"]
    parquet.write_table(pa.table(columns), tmp_path / "b.parquet")
    data = read_data(tmp_path / "b.parquet")
    np.testing.assert_array_equal(data.X, [[1.0, 3.0], [2.0, 4.0]])
    assert data.y.tolist() == ["x", "y"]
    assert data.feature_names == ("a", "b")
    assert read_data(tmp_path / "b.parquet", feature_names=["a"], target="kind").X.dtype == np.float32
    zeros = np.zeros(100_000)
    parquet.write_table(pa.table({"a": zeros, "y": zeros}), tmp_path / "c.parquet")
    assert (tmp_path / "c.parquet").stat().st_size < 10_000
    with pytest.raises(InvalidInputError, match="more than the limit"):
        read_data(tmp_path / "c.parquet", max_bytes=1_000_000)
    with pytest.raises(InvalidInputError, match="no parquet file that can be read"):
        read_data(written(tmp_path, "d.parquet", b"PAR1 garbage"))


def test_without_pyarrow_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"maxmargin\[parquet\]"):
        read_data(written(tmp_path, "a.parquet", b"PAR1"))


# ---------------------------------------------------------------- where from


@pytest.mark.parametrize("content", [TABLE.encode(), b"1 1:1 2:2\n-1 2:1\n", npz(X=np.eye(2), y=np.arange(2))])
def test_standard_input_is_recognised_by_its_content(content, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    data = read_data("-")
    assert data.X.shape[1] == 2
    assert len(data.y) == data.X.shape[0]


def test_standard_input_takes_memory_as_it_comes(monkeypatch):
    class Stream(io.BytesIO):
        def read(self, size=-1):
            assert 0 < size <= 1 << 20, "a reader that asks for the limit at once needs its memory at once"
            return super().read(size)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Stream(TABLE.encode())))
    assert read_data("-").X.shape == (3, 2)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Stream(bytes(3 << 20))))
    with pytest.raises(InvalidInputError, match="more than the limit of 2097152"):
        read_data("-", max_bytes=2 << 20)


def test_an_empty_standard_input_is_said(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InvalidInputError, match="standard input: the file is empty"):
        read_data("-")


def test_a_missing_file_a_folder_and_a_wrong_format_are_said(tmp_path):
    with pytest.raises(InvalidInputError, match="No such file"):
        read_data(tmp_path / "nothing.csv")
    with pytest.raises(InvalidInputError, match="directory"):
        read_data(tmp_path)
    with pytest.raises(InvalidInputError, match="format must be"):
        read_data(tmp_path, format="word")
    with pytest.raises(InvalidInputError, match="more than the limit of 3"):
        read_data(written(tmp_path, "a.csv", TABLE), max_bytes=3)
    with pytest.raises(InvalidInputError, match="2 features where 5 are wanted"):
        read_data(written(tmp_path, "a.csv", TABLE), n_features=5)
