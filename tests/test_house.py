"""The counters of `tests.house`, on sources made up for them. The limits are for ``python -m tests.house --check``."""

from dataclasses import replace

import pytest

from tests.house import EXEMPT, LONGEST_FILE, MOST_FILES, MOST_LINES, House, lines_of_code, main, measure, numbers_of, shown

SMALL = House(lines=10, numbers={}, repeated={}, full_folders={}, long_files={}, stale=[])


def test_lines_of_code_leave_out_docstrings_comments_and_blank_lines():
    source = '''"""Of the module,

on three lines."""

# A comment.
import os  # with code: counts

LIMIT = 3
"""Of a name."""


class A:
    """Of a class."""

    def f(self, x):
        """Of a "é" function."""; y = x
        return os.path.join(
            x,  # counts
            # does not

            y,
        )
'''
    code = ["import os", "LIMIT", "class A", "def f", "; y = x", "return", "x,", "y,", ")"]
    assert lines_of_code(source) == len(code)


def test_a_string_that_is_used_is_code():
    assert lines_of_code('text = """one\ntwo\nthree"""\n') == 3
    assert lines_of_code('f("""one\ntwo""")\n') == 2
    assert lines_of_code('print("one"\n      "two")\n') == 2


def test_an_empty_source_has_no_lines():
    assert lines_of_code("") == 0
    assert lines_of_code("# nothing\n\n") == 0


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("A = 3", ["A"]),
        ("A: int = 3", ["A"]),
        ("_A_1 = -2.5", ["_A_1"]),
        ("A, B = 3, 1e-4", ["A", "B"]),
        ("A = B = 3", ["A", "B"]),
        ("A, (B, C) = 1, (2, 'c')", ["A", "B"]),
        ("A = 2**20 * B", ["A"]),
        ("A = (1.0, 0.5)", ["A"]),
        ("A = {4: 1e-3}", ["A"]),
        ("A = np.array([0.1, 0.2])", ["A"]),
        ("A, B = range(2)", ["A", "B"]),
        ("if x:\n    A = 3\nelse:\n    B = 4", ["A", "B"]),
        ("try:\n    A = 3\nexcept E:\n    B = 4", ["A", "B"]),
        ("A = 3\nA = 4", ["A"]),
        ("A = B", []),
        ("A = True", []),
        ("A = 'three'", []),
        ("A = float(np.finfo(np.float64).eps)", []),
        ("A: int", []),
        ("a = 3\nAb = 4", []),
        ("def f():\n    A = 3", []),
        ("class C:\n    A = 3", []),
    ],
)
def test_a_number_is_an_upper_case_name_of_the_module_with_a_numeric_literal(source, names):
    assert numbers_of(source) == names


def test_fields_of_frozen_tunings_are_numbers():
    source = """
@dataclass(frozen=True)
class StepTuning:
    patience: int = 3
    widths: tuple[float, ...] = field(default=(0.1, 0.2))
    name: str = "step"
    is_on: bool = True
    given: float

@dataclasses.dataclass(frozen=True, slots=True)
class FaceTuning:
    patience: int = 4

@dataclass
class OpenTuning:
    patience: int = 5

@dataclass(frozen=True)
class Other:
    patience: int = 6
"""
    assert numbers_of(source) == ["StepTuning.patience", "StepTuning.widths", "FaceTuning.patience"]


def test_a_made_up_house_is_measured(tmp_path):
    solvers, io = tmp_path / "maxmargin" / "solvers", tmp_path / "maxmargin" / "io"
    solvers.mkdir(parents=True)
    io.mkdir()
    (solvers / "__init__.py").write_text("")
    (solvers / "one.py").write_text("STEPS, FIRST, LAST = 3, 0, 1\n")
    (solvers / "two.py").write_text("STEPS = 5\nROUNDS = 7\n")
    (io / "formats.py").write_text("ELSEWHERE = 3\n" + "\n" * LONGEST_FILE)
    for i in range(MOST_FILES - 2):
        (solvers / f"more_{i}.py").write_text("pass\n")
    house = measure(tmp_path, {"solvers.one": ("FIRST", "LAST"), "solvers.two": ("GONE",)})
    assert house.lines == 1 + 2 + 1 + MOST_FILES - 2
    assert house.numbers == {"solvers.one": ["STEPS"], "solvers.two": ["STEPS", "ROUNDS"]}
    assert house.repeated == {"STEPS": ["solvers.one", "solvers.two"]}
    assert house.full_folders == {"maxmargin/solvers": MOST_FILES + 1}
    assert house.long_files == {"maxmargin/io/formats.py": LONGEST_FILE + 1}
    assert house.stale == ["solvers.two: GONE"]
    for part in ("ROUNDS", "solvers.two: GONE", "maxmargin/io/formats.py"):
        assert part in shown(house, with_names=True)


def test_each_limit_can_be_broken():
    assert SMALL.is_within_limits
    assert not replace(SMALL, lines=10**6).is_within_limits
    assert not replace(SMALL, numbers={"solvers.one": ["A"] * 1000}).is_within_limits
    assert not replace(SMALL, full_folders={"maxmargin": 99}).is_within_limits
    assert not replace(SMALL, long_files={"maxmargin/one.py": 999}).is_within_limits


def test_check_exits_with_1_where_a_limit_is_broken(monkeypatch, capsys):
    monkeypatch.setattr("tests.house.measure", lambda: SMALL)
    assert main([]) == main(["--check"]) == 0
    monkeypatch.setattr("tests.house.measure", lambda: replace(SMALL, lines=10**6))
    assert main([]) == 0
    assert main(["--check"]) == 1
    assert f"limit {MOST_LINES}" in capsys.readouterr().out


def test_no_name_is_exempt_twice():
    for names in EXEMPT.values():
        assert len(set(names)) == len(names)
