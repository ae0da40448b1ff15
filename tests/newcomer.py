"""Plays a newcomer: follows README, builds the wheel, installs it in a fresh environment, tries everything outside the checkout.

    python tests/newcomer.py [--checks]

needs `build` and an index for pip; `.ci/run` runs it. Each step is a command line with its exit code and what it must say.
README's command for the checks takes as long as they do, and `.ci/run` has just run them: only ``--checks`` follows it too.
"""

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINUTE = 60.0
BAD_FILES = {
    "empty.csv": b"",
    "garbage.csv": bytes(range(256)) * 40,
    "nan.csv": b"width,height,kind\n1.0,nan,bird\n2.0,3.0,fish\n",
}


class Newcomer:
    """A folder and an environment of one's own; every command is checked."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.steps, self.processor_seconds = folder, 0, 0.0
        self.scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        self.work = folder / "work"
        self.work.mkdir()
        hidden = ("PYTHONPATH", "NUMBA_CACHE_DIR", "VIRTUAL_ENV")  # as on a machine that never saw the project
        self.environment = {name: value for name, value in os.environ.items() if name not in hidden}

    def run(self, *command: str, code: int = 0, says: str = "", timeout: float = 600.0) -> str:
        """Run a command in the work folder; its exit code and its words are as they should be, and nothing is a traceback."""
        program, *rest = command
        started, before = time.perf_counter(), os.times()
        done = subprocess.run(
            [str(self.scripts / program), *rest],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )
        self.processor_seconds = sum(os.times()[2:4]) - sum(before[2:4])  # wherever others are busy, too
        words = " ".join((done.stdout + done.stderr).split())
        self.check(command, done.returncode == code, f"exit code {done.returncode}, not {code}: {words[-2000:]}")
        self.check(command, says in words, f"does not say {says!r}: {words[-2000:]}")
        self.check(command, "Traceback" not in words, words[-2000:])
        if code == 1:
            self.check(command, done.stderr.count("\n") == 1, f"is not one line: {done.stderr}")
        self.steps += 1
        sys.stdout.write(f"ok {time.perf_counter() - started:6.1f} s  {' '.join(command)[:110]}\n")
        sys.stdout.flush()
        return done.stdout

    def check(self, command: tuple[str, ...], is_right: bool, what: str) -> None:
        """Stop at the first thing that is wrong."""
        if not is_right:
            raise SystemExit(f"{' '.join(command)}\n    {what}")


def follow_readme(folder: Path, environment: dict[str, str], *, with_checks: bool) -> None:
    """README's own lines, letter for letter, each in a fresh copy of the checkout."""
    lines = re.findall(r"^python3 -m venv .+$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    demo, checks = lines
    if not (demo.endswith("maxmargin demo") and checks.endswith("python -m tests")):
        raise SystemExit(f"README has other commands than a newcomer expects: {lines}")
    unwanted = shutil.ignore_patterns(".git", ".venv", "build", "dist", "__pycache__", ".*_cache", "*.egg-info")
    for number, line in enumerate([demo, checks] if with_checks else [demo]):
        copy, started = folder / f"checkout_{number}", time.perf_counter()
        shutil.copytree(ROOT, copy, ignore=unwanted)
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"README's {line}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}")
        sys.stdout.write(f"ok {time.perf_counter() - started:6.1f} s  README: {line}\n")
        sys.stdout.flush()
        shutil.rmtree(copy)


def build_wheel(folder: Path) -> Path:
    """The wheel that `python -m build` makes, from the source archive that it makes first."""
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    if not wheel.name.endswith("-py3-none-any.whl"):
        raise SystemExit(f"{wheel.name} is no pure wheel")
    with zipfile.ZipFile(wheel) as archive:
        strange = [name for name in archive.namelist() if not name.startswith("maxmargin")]
    if strange:
        raise SystemExit(f"the wheel brings {strange}")
    return wheel


def write_data(work: Path) -> None:
    """A CSV file with text labels, the same samples for svmlight, and a task that takes minutes; no package is needed."""
    rows = [(k * 0.37 % 4 + (k % 2) * 2.5, k * 0.73 % 3 - (k % 2) * 1.5, ("fish", "bird")[k % 2]) for k in range(120)]
    lines = ["width,height,kind", *(f"{a:.4f},{b:.4f},{kind}" for a, b, kind in rows)]
    (work / "animals.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    entries = [f"{1 if kind == 'fish' else -1} 1:{a:.4f} 2:{b:.4f}" for a, b, kind in rows]
    (work / "animals.svm").write_text("\n".join(entries) + "\n", encoding="utf-8")
    draw = random.Random(0)
    noise = [" ".join(f"{j}:{draw.gauss(0, 1):.4f}" for j in range(1, 9)) for _ in range(5000)]
    (work / "noise.svm").write_text("".join(f"{draw.choice((-1, 1))} {line}\n" for line in noise), encoding="utf-8")
    for name, content in BAD_FILES.items():
        (work / name).write_bytes(content)


def first_steps(one: Newcomer) -> None:
    """Import, help, and the demo, which takes less than a minute of a processor although nothing is compiled yet."""
    one.run("python", "-c", "import maxmargin; print(maxmargin.__version__, maxmargin.__file__)", says="site-packages")
    one.run(
        "python",
        "-c",
        "from maxmargin import SVC, certify; X, y = [[0.], [1.], [2.]], [0, 0, 1]; print(certify(SVC().fit(X, y), X, y))",
        says="proved to be within a relative",
    )
    one.run("maxmargin", "--help", says="demo")
    one.run("maxmargin", "info", says="BLAS")
    one.run("maxmargin", "demo", says="every answer carries its proof")
    cold = one.processor_seconds
    one.check(("demo",), not list(one.work.glob("*.html")), "left its page where it was run")
    one.run("maxmargin", "demo", "--report", "again.html", says="again.html")
    one.check(("demo",), (one.work / "again.html").stat().st_size > 10_000, "wrote no page")
    sys.stdout.write(f"   seconds of a processor: {cold:.0f} with the loops to compile, then {one.processor_seconds:.0f}\n")
    one.check(("demo",), cold < MINUTE, f"took {cold:.0f} s")
    one.run("maxmargin", "warm-up", says="They are kept in")


def every_command(one: Newcomer) -> None:
    """Train, predict, certify, leave out, bound, convert and report, on both files."""
    for data, labels in (("animals.csv", {"bird", "fish"}), ("animals.svm", {"1", "-1"})):
        model, page = f"{data}.maxmargin", f"{data}.html"
        one.run("maxmargin", "fit", data, "-o", model, "-C", "10", "--alphas", "alphas.txt", says="proved to be within")
        one.check(("alphas",), len((one.work / "alphas.txt").read_text().split()) == 120, "are not 120")
        found = one.run("maxmargin", "predict", model, data, says="labels are right").split()
        one.check(("predict", data), len(found) == 120 and set(found) == labels, f"gives {set(found)}")
        one.run("maxmargin", "certify", model, data, says="proved to be within")
        answer = json.loads(one.run("maxmargin", "loo", data, "-C", "10", "--json"))
        one.check(("loo", data), 0 <= answer["error"] <= 0.5, str(answer))
        one.run("maxmargin", "bounds", model, data, says="plug-in")
        one.run("maxmargin", "report", model, data, "-o", page, "--loo", says=page)
        one.check(("report", data), (one.work / page).read_text(encoding="utf-8").startswith("<!DOCTYPE html>"), "no page")
    for data, by in (("animals.csv", "loo"), ("animals.svm", "cv")):
        answer = json.loads(one.run("maxmargin", "search", data, "--scale", "standard", "--by", by, "-o", "best", "--json"))
        one.check(("search", data), answer["best"]["accuracy"] >= 0.9, str(answer["best"]))
        one.run("maxmargin", "certify", "best", data, says="proved to be within")
    one.run("maxmargin", "convert", "animals.svm.maxmargin", "animals.libsvm")
    one.run("maxmargin", "predict", "animals.libsvm", "animals.svm", says="labels are right")


def libsvms_guide(one: Newcomer) -> None:
    """LIBSVM's guide for beginners, by the commands of docs/practical_guide.md: its data set has two files without a suffix."""
    lines = (one.work / "animals.svm").read_text(encoding="utf-8").splitlines(keepends=True)
    (one.work / "train").write_text("".join(lines[:90]), encoding="utf-8")
    (one.work / "test").write_text("".join(lines[90:]), encoding="utf-8")
    page = (ROOT / "docs" / "practical_guide.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| `[^|]+` \| `(maxmargin [^`]+)`", page, re.MULTILINE)
    one.check(("the guide",), len(steps) == 7, f"has other steps than expected: {steps}")
    for step in steps:
        one.run(*step.split())
    one.check(("the guide",), len((one.work / "out").read_text(encoding="utf-8").split()) == 30, "gives other labels than 30")
    one.run("maxmargin", "fit", "train", "-v", "5", code=2, says="maxmargin cv DATA -k 5")
    one.run("maxmargin", "fit", "train", "train.model", code=2, says="-o MODEL")


def mistakes(one: Newcomer) -> None:
    """What goes wrong is said in one line, and nothing is overwritten."""
    kept = {name: (one.work / name).read_bytes() for name in ("animals.csv", "animals.csv.maxmargin", "alphas.txt")}
    for name in ("missing.csv", *BAD_FILES):
        one.run("maxmargin", "fit", name, "-o", "animals.csv.maxmargin", code=1)
        one.run("maxmargin", "predict", "animals.csv.maxmargin", name, "-o", "alphas.txt", code=1)
    one.run("maxmargin", "fit", "animals.csv", "--target", "colour", "-o", "animals.csv.maxmargin", code=1, says="colour")
    one.run("maxmargin", "predict", "garbage.csv", "animals.csv", "-o", "alphas.txt", code=1)
    one.run("maxmargin", "fit", "animals.csv", "-o", "animals.csv", code=1)
    one.run("maxmargin", "fit", "animals.csv", "--kernel", "magic", code=2, says="'rbf'")
    one.run("maxmargin", "lab", code=1, says="pip install 'maxmargin[lab]'")
    for name, content in kept.items():
        one.check(("mistakes",), (one.work / name).read_bytes() == content, f"{name} was overwritten")


def interrupted(one: Newcomer) -> None:
    """Ctrl-C in the middle of a fit: exit code 130, and the best model so far is there."""
    if os.name != "posix":
        return
    import pty

    fit = (
        "fit",
        "noise.svm",
        "-o",
        "noise.maxmargin",
        "-e",
        "pegasos",
        "--tol",
        "1e-15",
        "--set",
        "n_epochs=100000000",
    )
    one.run("maxmargin", *fit, "--max-seconds", "1", code=3, says="it was saved to noise.maxmargin")
    (one.work / "noise.maxmargin").unlink()
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(one.scripts / "maxmargin"), *fit],
        cwd=one.work,
        env={**one.environment, "TERM": "xterm", "COLUMNS": "150"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    said = read(terminal, until=", round [1-9]")
    process.send_signal(signal.SIGINT)
    threading.Thread(target=press_again, args=(process,), daemon=True).start()
    said += read(terminal)
    one.check(fit, process.wait(timeout=120.0) == 130, f"exit code {process.returncode}: {said}")
    one.check(fit, "it was saved to noise.maxmargin" in said and "Traceback" not in said, said)
    one.run("maxmargin", "certify", "noise.maxmargin", "noise.svm", code=3, says="Not certified: the gap is")


def press_again(process: "subprocess.Popen[bytes]") -> None:
    """Ctrl-C once more after a while: Python drops one that comes while it frees memory."""
    while process.poll() is None:
        time.sleep(20.0)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)


def read(terminal: int, until: str = "$.") -> str:
    """What a program shows on a terminal, until it shows this, or ends."""
    seen = b""
    while not re.search(until, seen.decode(errors="replace")):
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux's way to say that the program has ended
            break
        seen += piece
        if not piece:
            break
    return seen.decode(errors="replace")


def main() -> None:
    """Everything, in a folder that is removed at the end."""
    parser = argparse.ArgumentParser(description="Play a newcomer.")
    parser.add_argument("--checks", action="store_true", help="follow README's line for the checks, too")
    with_checks = parser.parse_args().checks
    # A background job is born deaf to Ctrl-C, and so are its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = Newcomer(folder)
        follow_readme(folder, one.environment, with_checks=with_checks)
        wheel = build_wheel(folder / "wheel")
        venv.create(folder / "env", with_pip=True)
        one.run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel), timeout=1800.0)
        write_data(one.work)
        for part in (first_steps, every_command, libsvms_guide, mistakes, interrupted):
            part(one)
    sys.stdout.write(f"{wheel.name}: {one.steps} commands did what a newcomer expects\n")


if __name__ == "__main__":
    main()
