"""Which tests `python -m tests --fast` finds for a change."""

import subprocess

import pytest

from tests.changed import changed_files, mirrors_of, mirrors_of_changes


@pytest.fixture
def project(tmp_path):
    """A made-up project."""
    for path in (
        "src/maxmargin/rounding.py",
        "src/maxmargin/core/problem.py",
        "src/maxmargin/core/certificate/certify.py",
        "src/maxmargin/_loops/smo/largest.py",
        "tests/test_rounding.py",
        "tests/core/test_problem.py",
        "tests/core/test_problem_words.py",
        "tests/core/test_certificate.py",
        "tests/loops/test_largest.py",
        "tests/kernels/test_packed.py",
        "tests/io/test_onnx_export.py",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / "tests/kernels/test_packed.py").write_text("from maxmargin.kernel_matrix.lines import Lines\n")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("src/maxmargin/rounding.py", ["tests/test_rounding.py"]),
        ("src/maxmargin/core/problem.py", ["tests/core/test_problem.py"]),
        ("src/maxmargin/core/certificate/certify.py", ["tests/core/test_certificate.py"]),
        ("src/maxmargin/core/certificate/__init__.py", ["tests/core/test_certificate.py"]),
        ("src/maxmargin/_loops/smo/largest.py", ["tests/loops/test_largest.py"]),
        ("src/maxmargin/kernel_matrix/packed.py", ["tests/kernels/test_packed.py"]),
        ("src/maxmargin/kernel_matrix/lines.py", ["tests/kernels/test_packed.py"]),
        ("src/maxmargin/kernel_matrix/line.py", []),
        ("src/maxmargin/io/_formats/onnx.py", ["tests/io/test_onnx_export.py"]),
        ("src/maxmargin/core/nothing.py", []),
    ],
)
def test_a_source_file_has_its_examples_and_the_tests_that_mirror_it(project, path, tests):
    assert mirrors_of(path, project) == [path, *tests]


def test_a_test_is_its_own_test_and_other_files_have_none(project):
    assert mirrors_of("tests/core/test_problem.py", project) == ["tests/core/test_problem.py"]
    for path in ("tests/problems.py", "README.md", "benchmarks/datasets.py", "src/maxmargin/py.typed"):
        assert mirrors_of(path, project) == []


def test_what_differs_from_head_and_what_is_new_has_changed(project, monkeypatch):
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):  # set in a hook, and then of another project
        monkeypatch.delenv(name, raising=False)

    def git(*words):
        who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
        subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)

    assert changed_files(project) == []
    git("init")
    git("add", ".")
    git("commit", "-m", "Begin")
    assert changed_files(project) == []
    (project / "src/maxmargin/core/problem.py").write_text("A = 3\n")
    (project / "tests/core/test_new.py").write_text("")
    (project / "tests/test_rounding.py").unlink()
    assert changed_files(project) == ["src/maxmargin/core/problem.py", "tests/core/test_new.py"]
    assert mirrors_of_changes(project) == [
        "src/maxmargin/core/problem.py",
        "tests/core/test_problem.py",
        "tests/core/test_new.py",
    ]
