"""The size of the house: ``python -m tests.house`` prints it beside its limits; with ``--check`` a broken limit exits with 1.

Lines of code are those of src/ without docstrings, comments and blank lines. A number set by hand is an upper-case name of a
module, or a field of a frozen dataclass named ``…Tuning``, whose value contains a numeric literal. A name that only repeats
another one (``MAX_SAMPLES = MAX_FACTOR``) or asks NumPy (``np.finfo(…).eps``) sets no number. `EXEMPT` says which names are no
numbers of ours.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"

HOUSE, MOST_NUMBERS, MOST_FILES, LONGEST_FILE = 16_500, 140, 14, 350
"""The limits: lines of code of the house as it was built, numbers set by hand, .py files of a folder, lines of a file."""

ADDED: Mapping[str, int] = {
    "pipelines in every tool": 260,
    "steps of pipelines in model files": 360,
    "parameters and names of scikit-learn": 130,
    "scaling, cross-validation and search on the command line": 345,
    "compiling told apart, pictures by class, notebooks": 360,
    "small problems solved and certified together": 865,
    "the theory of the course texts: duality, exact programs, steps, margins, public losses": 1120,
    "figures of the texts": 475,
    "the lab": 820,
    "linear regression, several classes in one problem": 880,
    "regression, one class and nu": 505,
}
"""Lines of code that what came later may take, by what it is."""

MOST_LINES = HOUSE + sum(ADDED.values())

ADDED_NUMBERS: Mapping[str, int] = {"several classes in one problem": 4}
"""Numbers set by hand that came later, by what they belong to."""

PACKAGES = ("solvers", "kernels", "kernel_matrix", "core", "analysis", "estimators", "distributed", "_loops")
"""Where numbers are counted."""

EXEMPT: Mapping[str, tuple[str, ...]] = {
    # Positions in an array that a loop shares with those who call it.
    "solvers.linear.dual_cd": ("FIELDS", "HIGHEST", "LOWEST", "RESIDUAL", "N_ACTIVE", "GAIN"),
    "solvers.stochastic.iterates": ("T", "MASS", "LOSS", "SCALE", "SQUARE"),
    "_loops.stochastic": ("T", "MASS", "LOSS", "SCALE", "SQUARE"),
    "_loops.linear.dual_cd": ("HIGHEST", "LOWEST", "RESIDUAL", "N_ACTIVE", "GAIN", "N_FIELDS"),
    "_loops.smo.pair_steps": ("USED", "IS_FULL", "LARGE"),
    "_loops.hinge_sums": (
        *("RESIDUAL", "PLAIN", "LOSS", "LOSS_BELOW", "SIZE", "HIGH", "LOW", "CLOSEST", "VIOLATION", "OUTSIDE", "ON", "INSIDE"),
        *("IS_LOST", "N_SUMS", "UNIT"),
    ),
    # Statuses.
    "solvers.active_set": ("BELOW", "FREE", "ABOVE"),
    "core.certificate.parts": ("OUTSIDE", "ON", "INSIDE", "ABSENT", "NO_SPARE"),
    "_loops.l1.simplex_exchange": ("DONE", "ENDLESS", "TIRED"),
    "estimators.progress.callbacks": ("HUNDREDTHS",),  # a bar moves in them
    # Parts of a formula: the signs of w⁺ and w⁻; the offset of τ from t; nothing to spare.
    "solvers.l1.interior_point": ("SIGN",),
    "solvers.stochastic.pegasos": ("METHODS",),
    # Exact constants: unit roundoff, Dekker's splitter, SplitMix64, unsigned small integers.
    "_loops.leave_one_out": ("UNIT",),
    "_loops.certificate": ("SMALLEST", "N_NUMBERS"),
    "_loops.compensated": ("SPLITTER",),
    "_loops.fingerprint": ("STEP", "FIRST", "SECOND", "A", "B", "C", "HALF", "MINUS_ZERO", "NOTHING", "ONE"),
    "_loops.linear.csr": ("ONE", "TWO", "THREE", "FOUR"),
}
"""Names that hold no number set by hand, by module. One that names nothing any more is printed as stale."""

UPPER_CASE = re.compile(r"_*[A-Z][A-Z0-9_]*")
LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


@dataclass(frozen=True)
class House:
    """What was counted."""

    lines: int
    numbers: Mapping[str, list[str]]
    """Names of numbers set by hand, by module."""
    repeated: Mapping[str, list[str]]
    """Modules, by the name of a number that stands in more than one."""
    full_folders: Mapping[str, int]
    long_files: Mapping[str, int]
    stale: list[str]
    """Exemptions that name nothing."""

    @property
    def n_numbers(self) -> int:
        """Numbers set by hand."""
        return sum(map(len, self.numbers.values()))

    @property
    def is_within_limits(self) -> bool:
        """Whether no limit is broken."""
        few = self.lines <= MOST_LINES and self.n_numbers <= MOST_NUMBERS + sum(ADDED_NUMBERS.values())
        return few and not self.full_folders and not self.long_files


def lines_of_code(source: str) -> int:
    """Lines with a token that is neither comment nor part of a bare string (a docstring, of whatever it stands below)."""
    bare = [
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    inside = {line for (first, _), (last, _) in bare for line in range(first, last + 1)}
    text = source.splitlines()
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        first, last = token.start[0], token.end[0]
        if token.type in LAYOUT:
            continue
        if first in inside:
            at = (first, len(token.line.split("\n")[0][: token.start[1]].encode()))  # ast counts bytes
            if any(begin <= at < end for begin, end in bare):
                continue
        code.update(line for line in range(first, last + 1) if text[line - 1].strip())
    return len(code)


def numbers_of(source: str) -> list[str]:
    """Names of a module that hold numbers, exempt ones too; fields of tunings as ``Class.field``."""
    found: list[str] = []
    for node in _statements(ast.parse(source).body):
        if isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in _pairs(target, node.value)]
            found += [name for name, value in pairs if UPPER_CASE.fullmatch(name) and _has_number(value)]
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            if UPPER_CASE.fullmatch(node.target.id) and _has_number(node.value):
                found.append(node.target.id)
        elif isinstance(node, ast.ClassDef) and node.name.endswith("Tuning") and _is_frozen(node):
            fields = [field for field in node.body if isinstance(field, ast.AnnAssign) and field.value is not None]
            found += [f"{node.name}.{ast.unparse(f.target)}" for f in fields if f.value and _has_number(f.value)]
    return list(dict.fromkeys(found))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under if, try and with among them."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            parts = [getattr(node, part, []) for part in ("body", "orelse", "finalbody")]
            parts += [handler.body for handler in getattr(node, "handlers", [])]
            yield from _statements([inner for part in parts for inner in part])


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """Each name of a target with its own value, or with the whole one where that cannot be told."""
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if not isinstance(target, ast.Tuple | ast.List):
        return []
    values = [value] * len(target.elts)
    if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
        values = value.elts
    return [pair for one, its in zip(target.elts, values, strict=True) for pair in _pairs(one, its)]


def _has_number(value: ast.expr) -> bool:
    """Whether a numeric literal stands anywhere in an expression; True and False are none."""
    return any(isinstance(node, ast.Constant) and type(node.value) in (int, float) for node in ast.walk(value))


def _is_frozen(node: ast.ClassDef) -> bool:
    """Whether a class is decorated with ``dataclass(frozen=True)``."""
    return any(
        isinstance(call, ast.Call)
        and ast.unparse(call.func).split(".")[-1] == "dataclass"
        and any(k.arg == "frozen" and isinstance(k.value, ast.Constant) and k.value.value is True for k in call.keywords)
        for call in node.decorator_list
    )


def measure(source: Path = SOURCE, exempt: Mapping[str, tuple[str, ...]] = EXEMPT) -> House:
    """Count everything below a folder that holds the package maxmargin."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(source.rglob("*.py"))}
    numbers: dict[str, list[str]] = {}
    stale = {f"{module}: {name}" for module, names in exempt.items() for name in names}
    for path, text in texts.items():
        parts = path.relative_to(source / "maxmargin").with_suffix("").parts
        if parts[0] in PACKAGES:
            module = ".".join(parts).removesuffix(".__init__")
            named = numbers_of(text)
            stale -= {f"{module}: {name}" for name in named}
            if counted := [name for name in named if name not in exempt.get(module, ())]:
                numbers[module] = counted
    places: dict[str, list[str]] = {}
    for module, names in numbers.items():
        for name in names:
            places.setdefault(name, []).append(module)
    sizes: dict[str, int] = {}
    for path in texts:
        folder = path.parent.relative_to(source).as_posix()
        sizes[folder] = sizes.get(folder, 0) + 1
    lengths = {path.relative_to(source).as_posix(): len(text.splitlines()) for path, text in texts.items()}
    return House(
        lines=sum(map(lines_of_code, texts.values())),
        numbers=numbers,
        repeated={name: where for name, where in sorted(places.items()) if len(where) > 1},
        full_folders={folder: size for folder, size in sizes.items() if size > MOST_FILES},
        long_files={path: length for path, length in lengths.items() if length > LONGEST_FILE},
        stale=sorted(stale),
    )


def shown(house: House, with_names: bool = False) -> str:
    """The report; with the name of every number if asked."""
    by_package = {
        package: sum(len(names) for module, names in house.numbers.items() if module.split(".")[0] == package)
        for package in PACKAGES
    }
    rows = [
        f"lines of code            {house.lines:6}   limit {MOST_LINES}: {HOUSE}, and {MOST_LINES - HOUSE} for what came later",
        f"numbers set by hand      {house.n_numbers:6}   limit {MOST_NUMBERS + sum(ADDED_NUMBERS.values())}",
        *(f"    {package:<20} {count:6}" for package, count in by_package.items()),
    ]
    if with_names:
        rows += [f"    {module}: {', '.join(names)}" for module, names in house.numbers.items()]
    rows += [f"names in several modules {len(house.repeated):6}"]
    rows += [f"    {name}: {', '.join(where)}" for name, where in house.repeated.items()]
    rows += [f"folders too full         {len(house.full_folders):6}   limit {MOST_FILES} .py files a folder"]
    rows += [f"    {folder}: {size}" for folder, size in house.full_folders.items()]
    rows += [f"files too long           {len(house.long_files):6}   limit {LONGEST_FILE} lines a file"]
    rows += [f"    {path}: {length}" for path, length in house.long_files.items()]
    rows += [f"stale exemption          {name}" for name in house.stale]
    return "\n".join(rows) + "\n"


def main(arguments: list[str]) -> int:
    """Print; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.house", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is broken")
    parser.add_argument("--names", action="store_true", help="name every number that counts")
    given = parser.parse_args(arguments)
    house = measure()
    sys.stdout.write(shown(house, given.names))
    return int(given.check and not house.is_within_limits)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
