"""Damaged and crafted files: ``python -m tests.fuzz_files 100000 [seed]`` reads so many, and says how each kind ended.

Seeds are the small model files of tests/data and a few data files. They are mutated in bytes (flipped, cut out, doubled,
inserted, truncated, numbers replaced by hostile ones) and, for our own model files, in their meaning: a value of the header or an
array is changed and the file signed anew, so that checksums do not stand before the checks of the fields.

Every file must be read or refused with our own errors, soon, in bounded memory, without running anything; one of our own model
files that differs in a byte must be refused.
"""

import json
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from io import BytesIO
from pathlib import Path

import numpy as np
from sklearn.pipeline import Pipeline

from maxmargin import InvalidInputError, NotSupportedError, load
from maxmargin.io import read_data
from maxmargin.io._model.archive import describe, read_archive, read_array, write_archive

FOLDER = Path(__file__).parent / "data"
SLOWEST = 5.0
WATCHED = (
    "exec",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "subprocess.Popen",
    "pickle.find_class",
    "marshal.loads",
    "socket.connect",
)
HOSTILE = (
    "-1",
    "0",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "2147483648",
    "99999999999999999999",
    "1e308",
    "",
    "0x10",
    "1_0",
    "7:7",
    "#",
)
VALUES = (
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63,
    10**30,
    0.5,
    -1e308,
    "",
    "rbf",
    "precomputed",
    "linear",
    [],
    [1],
    {},
    {"type": "float", "value": "nan"},
)
SPAN = 40


def seeds():
    """(kind, name, bytes) of files that can be read."""
    files = [("model", path) for path in sorted(FOLDER.glob("version_*/*.maxmargin"))]
    files += [("libsvm", path) for path in sorted(FOLDER.glob("version_*/*.libsvm"))]
    files += [("svmlight model", path) for path in sorted(FOLDER.glob("version_*/*.svmlight"))]
    found = [(kind, path.name, path.read_bytes()) for kind, path in files]
    found += [("crafted model", name, content) for kind, name, content in found if kind == "model"]
    rows = "".join(f"{label} 1:{label}.5 3:-{label}e-1 7:2 # comment\n" for label in range(9))
    found.append(("svmlight", "a.svmlight", rows.encode()))
    table = "width,height,kind\n" + "".join(f"{k}.5,{k}e1,{'ab'[k % 2]}\n" for k in range(9))
    found.append(("csv", "a.csv", table.encode()))
    packed = BytesIO()
    np.savez(packed, X=np.arange(12.0).reshape(6, 2), y=np.array(list("ababab")))
    found.append(("npz", "a.npz", packed.getvalue()))
    return found


def mutated(content, rng):
    """The bytes, changed in one to three places."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, length = rng.randrange(len(data) + 1), rng.randrange(1, SPAN)
        match rng.randrange(8):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(data):
                data[at] = rng.randrange(256)
            case 2:
                del data[at : at + length]
            case 3:
                data[at:at] = data[at : at + length]
            case 4:
                data[at:at] = rng.randbytes(length)
            case 5:
                del data[at:]
            case 6:
                other = rng.randrange(len(data) + 1)
                data[at : at + length] = data[other : other + length]
            case _:
                data = _with_hostile_number(data, rng)
        if not data:
            break
    return bytes(data)


def _with_hostile_number(data, rng):
    """One of the pieces between blanks, colons and commas replaced."""
    places = [k for k, byte in enumerate(data) if byte in b" :,\n"]
    if len(places) < 2:
        return data
    k = rng.randrange(len(places) - 1)
    return data[: places[k] + 1] + rng.choice(HOSTILE).encode() + data[places[k + 1] :]


def crafted(content, rng):
    """A model file with a changed field, signed as if it were meant."""
    members = read_archive(BytesIO(content))
    header = json.loads(members["header.json"])
    arrays = {name: read_array(members, name, entry) for name, entry in header["arrays"].items()}
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.5:
            name = rng.choice(sorted(arrays))
            arrays[name] = _changed_array(arrays[name], rng)
        else:
            _change_value(header, rng)
    described = {name: describe(name, array) for name, array in arrays.items()}
    if isinstance(header.get("arrays"), dict) and rng.random() < 0.9:
        header["arrays"] = {name: entry for name, (entry, _) in described.items()}
    out = BytesIO()
    members = [("header.json", [json.dumps(header).encode()])]
    write_archive(out, members + [(f"{name}.npy", pieces) for name, (_, pieces) in described.items()])
    return out.getvalue()


def _changed_array(array, rng):
    array = array.copy()
    match rng.randrange(6):
        case 0 if array.size and array.dtype.kind in "iuf":
            hostile = (-1, 0, 10**6, 2**31 - 1) if array.dtype.kind in "iu" else (np.nan, np.inf, -1e300, 0.0, 1e9)
            array.flat[rng.randrange(array.size)] = np.array(rng.choice(hostile)).astype(array.dtype)
        case 1:
            array = array[: rng.randrange(array.shape[0] + 1)]
        case 2:
            array = np.concatenate([array, array[: rng.randrange(array.shape[0] + 1)]])
        case 3:
            array = array.reshape(-1)
        case 4 if array.dtype.kind in "iufb":
            array = array.astype(rng.choice(("<f4", "<i8", "<i4", "<f8", "|u1", "<U3")))
        case _:
            array = array[::-1]
    return array


def _change_value(node, rng):
    """Change, remove, add or replace something somewhere in the header."""
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.75:
            node = node[key]
            continue
        match rng.randrange(4):
            case 0:
                del node[key]
            case 1 if isinstance(node, dict):
                node[f"{key}_2"] = node[key]
            case _:
                node[key] = json.loads(json.dumps(rng.choice(VALUES)))
        return


class Watch:
    """Sees whether reading a file runs anything; audit hooks stay, so there is one."""

    def __init__(self):
        self.is_on, self.seen = False, []
        sys.addaudithook(self._hear)

    def _hear(self, event, arguments):
        if self.is_on and event in WATCHED:
            self.seen.append(event)


def read(kind, path):
    """What is in a file of this kind."""
    return read_data(path, format=kind) if kind in ("svmlight", "csv", "npz") else load(path)


def use(found):
    """Let a model predict; this may load loops that were compiled before, which is no fault of the file."""
    width = getattr(found, "n_features_in_", 0)
    if not hasattr(found, "predict") or width > 1000:
        return
    X = np.linspace(-1.0, 1.0, 2 * width).reshape(2, -1) if width else ["bee yes", ""]
    try:
        found.predict(X)
    except (ValueError, TypeError):  # scikit-learn's: a category that a step does not know, a number that overflows
        if not isinstance(found, Pipeline):
            raise


def refusal_of(kind, path, watch):
    """The error of ours with which a file is refused, None if it is read."""
    watch.is_on = True
    try:
        found = read(kind, path)
        watch.is_on = False
        use(found)
    except (InvalidInputError, NotSupportedError) as error:
        return error
    finally:
        watch.is_on = False
    return None


def run(count, seed, watch, report=lambda done: None):
    """Read so many damaged files; how they ended, by kind. What must not happen raises an AssertionError."""
    rng, ended, found = random.Random(seed), Counter(), seeds()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RuntimeWarning)  # a crafted weight may overflow
        path = Path(folder) / "file"
        for kind, _, content in found:  # what is loaded late is loaded here
            path.write_bytes(content)
            use(read(kind, path))
        for done in range(count):
            kind, name, content = found[done % len(found)]
            damaged = content
            while damaged == content:
                damaged = crafted(content, rng) if kind == "crafted model" else mutated(content, rng)
            path.write_bytes(damaged)
            started = time.perf_counter()
            try:
                refusal = refusal_of(kind, path, watch)
            except Exception as error:
                Path(tempfile.gettempdir(), "maxmargin_fuzz_failure").write_bytes(damaged)
                raise AssertionError(f"{name} ({kind}), case {done}, seed {seed}: {error!r}") from error
            ended[kind, "read" if refusal is None else "refused"] += 1
            assert kind != "model" or refusal, f"{name}, case {done}: altered, and yet read"
            assert refusal is None or "\n" not in str(refusal), f"{name}, case {done}: {refusal}"
            assert kind != "model" or not refusal or refusal.part, f"{name}, case {done}: no part named"
            slowest = max(slowest, time.perf_counter() - started)
            assert slowest < SLOWEST, f"{name}, case {done}: {slowest:.1f} s"
            assert not watch.seen, f"{name}, case {done}: ran {watch.seen}"
            report(done + 1)
    ended["slowest, ms", ""] = round(1e3 * slowest)
    return ended


def main():
    import resource

    count, seed = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, int(sys.argv[2]) if len(sys.argv) > 2 else 0
    watch, started = Watch(), time.perf_counter()
    run(len(seeds()), seed, watch)  # everything is loaded and compiled now
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended = run(count, seed, watch)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    for (kind, outcome), number in sorted(ended.items()):
        sys.stdout.write(f"{kind:16} {outcome:8} {number}\n")
    sys.stdout.write(f"{count} files in {time.perf_counter() - started:.0f} s; peak memory grew by {grown:.0f} MB\n")
    assert grown < 512, "memory"


if __name__ == "__main__":
    main()
