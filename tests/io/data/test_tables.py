"""CSV files: where pyarrow or NumPy reads them, the samples, labels, names and errors are the csv module's."""

import io
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import maxmargin.io._data.tables as module
from maxmargin import InvalidInputError
from maxmargin.io import read_data

NUMBERS = [
    "1",
    "-2.5",
    "+3",
    "1e5",
    ".5",
    "5.",
    "0",
    "01",
    "-0.0",
    "1e-400",
    "9007199254740993",
    "123456789012345678901",
]
ODD = [
    "", " ", " 1", "1 ", "\t1", "1\x0b", "1\xa0", "nan", "NA", "?", "inf", "1e400", "1_0", "0x10", "1e", "true", "True", "$5",
    "1,5", "1;5", "1.000,5", "1'000", "1 000", "٣", "a", "bird", "Ä", "\ufeff1", "#1", "\\N", '"', '"1"', '" 1"', '"a"', '"a,b"',
    '"a;b"', '"a\nb"', '"a""b"', 'a"b', '"a"b', ' "a"', '""', "1\r", "1\0", "x" * 140_000,
]  # fmt: skip
FIELDS = st.sampled_from(NUMBERS) | st.sampled_from(NUMBERS + ODD) | st.floats().map(repr) | st.text(max_size=4)


@st.composite
def files(draw):
    """Bytes of a table: mostly numbers and a column of labels, with some oddities."""
    n_rows, n_columns = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    delimiter, end = draw(st.sampled_from([",", ",", ";", "\t", ", "])), draw(st.sampled_from(["\n", "\n", "\r\n"]))
    rows = [draw(st.lists(st.sampled_from(NUMBERS), min_size=n_columns, max_size=n_columns)) for _ in range(n_rows)]
    labels = draw(st.sampled_from([("1", "2"), ("a", "b"), ("01", "x"), ('"a"', '"b c"'), ("Ä", "ß")]))
    rows = [[*row, draw(st.sampled_from(labels))] for row in rows]
    for _ in range(draw(st.integers(0, 2))):
        rows[draw(st.integers(0, n_rows - 1))][draw(st.integers(0, n_columns))] = draw(FIELDS)
    header = draw(st.sampled_from([None, None, "f{}", '"f {}"', '"f, {}"', '"f\n{}"', "{}"]))
    lines = [] if header is None else [delimiter.join(header.format(k) for k in range(n_columns + 1))]
    lines += [delimiter.join(row) for row in rows]
    for line in draw(st.lists(st.sampled_from(["", " ", delimiter, "1", "1,2,3,4,5,6,7"]), max_size=1)):
        lines.insert(draw(st.integers(0, len(lines))), line)
    text = draw(st.sampled_from(["", "", "\ufeff"])) + end.join(lines) + draw(st.sampled_from(["", end, end + end]))
    content = text.encode("utf-8", "surrogatepass")
    return content + draw(st.sampled_from([b"", b"", b"\xff"]))


def refuse(*_, **__):
    raise ValueError("not plain")


def outcome(content, options, reader, loadtxt=np.loadtxt):
    """What a read ends with, by "arrow", "numpy" or "csv": samples, labels and names, or the error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "loadtxt", loadtxt if reader == "numpy" else refuse)
        patch.setattr(module, "ARROW_PAYS", 0 if reader == "arrow" else 1 << 40)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        try:
            data = read_data("-", format="csv", **options)
        except InvalidInputError as error:
            return str(error)
        y = None if data.y is None else (data.y.dtype, data.y.tolist())
        return data.X.dtype, data.X.shape, data.X.tobytes(), y, data.feature_names


@given(
    content=files(),
    header=st.sampled_from([None, None, True, False]),
    target=st.sampled_from([None, None, 0, 1, "f0"]),
    n_features=st.sampled_from([None, None, 2]),
    names=st.sampled_from([None, None, None, ["f0"]]),
)
@example(b"a,b\n1,2\n" + b"\xef\xbb\xbf1,2\n", None, None, None, None)
def test_pyarrow_numpy_and_the_csv_module_agree(content, header, target, n_features, names):
    options = {"header": header, "target": target, "n_features": n_features, "feature_names": names}
    expected = outcome(content, options, "csv")
    assert outcome(content, options, "numpy") == expected
    assert outcome(content, options, "arrow") == expected
    assert not isinstance(expected, str) or "\n" not in expected


@pytest.mark.parametrize("field", [*NUMBERS, *ODD])
@pytest.mark.parametrize("target", [None, 0])
def test_every_odd_field_is_read_alike(field, target):
    content = f"0.5,1,2\n{field},3,4\n5,6,7\n".encode()
    numpy, arrow, expected = (outcome(content, {"target": target}, reader) for reader in ("numpy", "arrow", "csv"))
    assert numpy == expected
    assert arrow == expected


@pytest.mark.parametrize(
    "text",
    [
        "a,b,kind\n1,2.5,x\n3,.5,01\n",
        '\ufeff"a, b","c\nd","kind"\r\n1,2,x\r\n3,4,y z\r\n\r\n',
        "1;2;0\n3;4;1",
        "kind\ta\nÄ\t1\nß\t2\n",
    ],
)
def test_plain_files_are_read_by_numpy(text, monkeypatch):
    monkeypatch.setattr(module.CsvTable, "_by_csv_module", lambda _: pytest.fail("the csv module was asked"))
    target = 0 if text.startswith("kind") else -1
    assert len(read_data_of(text, monkeypatch, target).X) == 2


@pytest.mark.parametrize(
    "text",
    [
        'a,b,kind\n1,2.5,"x, y"\n3,.5,"01"\n',
        '\ufeff"a, b","c\nd","kind"\r\n"1","2","x\ny"\r\n"3","4","y z"\r\n\r\n',
        "1;2;0\n3;4;1",
    ],
)
def test_large_files_are_read_by_pyarrow_quoted_fields_too(text, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(module, "ARROW_PAYS", 0)
    monkeypatch.setattr(module.CsvTable, "_by_numpy", lambda _: pytest.fail("NumPy was asked"))
    assert len(read_data_of(text, monkeypatch, -1).X) == 2


def read_data_of(text, monkeypatch, target):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return read_data("-", target=target)


def test_files_need_no_library_but_numpy(tmp_path, monkeypatch):
    for name in ("pyarrow", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
    X = np.random.default_rng(0).standard_normal((300, 3))
    np.savetxt(tmp_path / "a.csv", np.column_stack([X, X[:, 0] > 0]), fmt="%.17g", delimiter=",")
    data = read_data(tmp_path / "a.csv")
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, X[:, 0] > 0)


def test_files_with_quotes_are_read_by_the_csv_module(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(module.CsvTable, "_by_csv_module", lambda table: kept.append(table) or np.array([[1.0, np.nan]]))
    (tmp_path / "a.csv").write_text('1,"a, b"\n')
    assert read_data(tmp_path / "a.csv").y.tolist() == ["a, b"]
    assert kept


def test_numpy_is_not_believed_where_it_loses_lines_or_fails():
    def loses(*_, usecols, **__):
        return np.ones((1, len(usecols)))

    def fails(*_, **__):
        raise RuntimeError("a bug of the library")

    for loadtxt in (loses, fails):
        found = outcome(b"1,2\n3,4\n", {}, "numpy", loadtxt=loadtxt)
        assert found == outcome(b"1,2\n3,4\n", {}, "csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"a\nb",c\n\n1,2\n3,\n4,x\n', "line 5: sample 2, column 'c': the value is missing. Fill it in"),
        (
            "a;b\n1;2\n1.000,5;3\n",
            "line 3: sample 2, column 'a': '1.000,5' is no finite number. Write numbers as 1234.5",
        ),
        ("1,2\n3,4\n5\n", "line 3: sample 3 has 1 fields where 2 are wanted. Fill in"),
        ('1,2\n3,"4"5\n', "line 2: it is no CSV file"),
        (b"1,2\n3,\xff\n", "line 2: it is no text file (UTF-8)"),
    ],
)
@pytest.mark.parametrize("by_numpy", [False, True])
def test_errors_say_the_line(by_numpy, text, words):
    content = text if isinstance(text, bytes) else text.encode()
    found = outcome(content, {"n_features": 2}, by_numpy)
    assert words in found


def test_labels_among_texts_stay_as_they_are_written(tmp_path):
    (tmp_path / "a.csv").write_text("1,01\n2,1\n3,1.0\n4,x\n")
    assert read_data(tmp_path / "a.csv").y.tolist() == ["01", "1", "1.0", "x"]
    (tmp_path / "b.csv").write_text("1,01\n2,1\n3,2\n")
    assert read_data(tmp_path / "b.csv").y.tolist() == [1, 1, 2]
