"""CSV files: samples and labels are those of the csv module and of `float`, field by field; errors say the line."""

import csv
import io
import math
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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


def outcome(content, options):
    """What a read ends with: samples and labels, or the error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        try:
            data = read_data("-", format="csv", **options)
        except InvalidInputError as error:
            return str(error)
        return data.X.tolist(), [str(label) for label in data.y.tolist()]


def is_number(field):
    try:
        return math.isfinite(float(field)) and "_" not in field
    except ValueError:
        return False


def reference(content, header, target):
    """Samples and labels, field by field; None where something is to be refused."""
    try:
        text = content.decode("utf-8-sig")
        first = next((line for line in text.split("\n") if line.strip()), "")
        lines, delimiter = io.StringIO(text, newline="\n"), max(",;\t", key=first.count)
        rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True))
    except (UnicodeDecodeError, csv.Error):
        return None
    rows = [row for row in rows if row and (len(row) > 1 or row[0].strip())]
    if b"\0" in content or not rows or {len(row) for row in rows[header:]} != {len(rows[0])} or len(rows[0]) < 2:
        return None
    labels = [row.pop(target).strip() for row in rows]
    if header and len({name.strip() for name in [*rows[0], labels[0]]}) <= len(rows[0]):
        return None
    missing = any(label.lower() in ("", "nan", "na", "null", "none") for label in labels[header:])
    if missing or not all(is_number(field) for row in rows[header:] for field in row):
        return None
    return [[float(field) for field in row] for row in rows[header:]], labels[header:]


def is_as_said(content, header, target):
    expected, found = reference(content, header, target), outcome(content, {"header": header, "target": target})
    if expected is None:
        return isinstance(found, str) and "\n" not in found
    if isinstance(found, str):  # labels that are all numbers must be finite ones
        return "a label is missing or infinite" in found
    numbers = all(is_number(label) for label in expected[1])
    labels = [float(label) for label in expected[1]] if numbers else expected[1]
    return found[0] == expected[0] and ([float(label) for label in found[1]] if numbers else found[1]) == labels


@given(content=files(), header=st.booleans(), target=st.sampled_from([-1, -1, 0]))
@example(b"a,b\n1,2\n" + b"\xef\xbb\xbf1,2\n", True, -1)
def test_fields_are_those_of_the_csv_module(content, header, target):
    assert is_as_said(content, header, target)


@pytest.mark.parametrize("field", [*NUMBERS, *ODD])
@pytest.mark.parametrize("target", [-1, 0])
def test_every_odd_field_is_read_as_it_should_be(field, target):
    assert is_as_said(f"0.5,1,2\n{field},3,4\n5,6,7\n".encode(), False, target)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,kind\n1,2.5,x\n3,.5,01\n",
        '\ufeff"a, b","c\nd","kind"\r\n1,2,"x"\r\n"3",4,"y z"\r\n\r\n',
        "1;2;0\n3;4;1",
        "kind\ta\nÄ\t1\nß\t2\n",
    ],
)
def test_plain_files_need_no_options(text):
    target = 0 if text.startswith("kind") else -1
    assert len(outcome(text.encode(), {"target": target})[0]) == 2


def test_many_samples_are_read_to_the_last_bit(tmp_path):
    X = np.random.default_rng(0).standard_normal((300, 3))
    np.savetxt(tmp_path / "a.csv", np.column_stack([X, X[:, 0] > 0]), fmt="%.17g", delimiter=",")
    data = read_data(tmp_path / "a.csv")
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, X[:, 0] > 0)


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
def test_errors_say_the_line(text, words):
    content = text if isinstance(text, bytes) else text.encode()
    assert words in outcome(content, {"n_features": 2})


def test_labels_among_texts_stay_as_they_are_written(tmp_path):
    (tmp_path / "a.csv").write_text("1,01\n2,1\n3,1.0\n4,x\n")
    assert read_data(tmp_path / "a.csv").y.tolist() == ["01", "1", "1.0", "x"]
    (tmp_path / "b.csv").write_text("1,01\n2,1\n3,2\n")
    assert read_data(tmp_path / "b.csv").y.tolist() == [1, 1, 2]
