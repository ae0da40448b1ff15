"""Model files: `save` and `load` for our own, `export` for other formats, which `load` knows by their content.

Our own is a zip of header.json and raw .npy arrays. docs/model_files.md is its specification. Nothing in it is code, so
reading one cannot run any. Nothing in it is believed: sizes are compared before bytes are read, checksums before they are
used, and every field is checked by itself and against the others.
"""

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.io._atomic import replacing
from maxmargin.io._data.files import LARGEST_INDEX
from maxmargin.io._formats.machine import machine_of
from maxmargin.io._formats.onnx import write_onnx
from maxmargin.io._formats.text_models import READERS, WRITERS
from maxmargin.io._model.archive import MAX_BYTES, damaged, describe, read_archive, read_array, require, write_archive
from maxmargin.io._model.fields import Fields
from maxmargin.io._model.fitted import DESCRIPTIONS, check_estimator
from maxmargin.io._model.parameters import decode_estimator, encode
from maxmargin.io._model.steps import Steps, best, parts

FORMAT, VERSION, PLAIN_VERSION = "maxmargin model", 2, 1
"""Files with the steps of a pipeline are of version 2; the others stay files that older readers can read."""

HEADER = "header.json"
WRITTEN_BY = f"maxmargin {version('maxmargin')}"
MAX_HEADER = 64 << 20
PARTS = {"format": str, "version": int, "written_by": str, "estimator": str, "parameters": dict, "fitted": dict, "arrays": dict}
"""The fields of the header, and their types."""

KINDS = {kind.__name__: kind for kind in DESCRIPTIONS}


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a model file, which is data and not code.

    Parameters
    ----------
    estimator : SVC, LinearSVC, HardMarginSVC, PegasosSVC or Perceptron, a Pipeline that ends with one, or a search
        Fitted. Kept are all parameters and fitted attributes, proofs included; left out are the memory of a warm start and a
        perceptron's `witness_`, which refers to the training data. Of a Pipeline, the steps before the last are kept, too: those
        of scikit-learn that are data (the page on model files lists them). Of GridSearchCV and the like, `best_estimator_` is.
    path : path
        The suffix ``.maxmargin`` is our habit. A file that is there is replaced in one step, when the new one was written and
        read back; after an error it is what it was.

    Raises
    ------
    NotSupportedError
        For kernels that are Python functions, labels that are Python objects, models that are not ours, steps of a Pipeline that
        are code or unknown, and models beyond 4 GB.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from maxmargin import SVC, load, save
    >>> model = SVC(C=10).fit([[0.0], [1.0], [2.0], [3.0]], ["out", "in", "in", "out"])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "a.maxmargin")
    ...     twin = load(Path(folder) / "a.maxmargin")
    >>> twin.predict([[0.1], [1.5]]), twin.certificate_ == model.certificate_
    (array(['out', 'in'], dtype='<U3'), True)

    A Pipeline takes its scaler along:

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> model = make_pipeline(StandardScaler(), SVC()).fit([[0.0], [100.0], [200.0], [300.0]], ["out", "in", "in", "out"])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "a.maxmargin")
    ...     load(Path(folder) / "a.maxmargin").predict([[10.0], [150.0]])
    array(['out', 'in'], dtype='<U3')
    """
    check_estimator(parts(estimator)[-1])
    try:
        members = _members(best(estimator))
        with replacing(path) as file:
            write_archive(file, members)
            file.flush()
            read_model(file)
    except ModelFileError as error:
        raise InvalidInputError(f"This model contradicts itself and was not saved. {error}") from error


def _members(model: Any) -> list[tuple[str, list[Any]]]:
    estimator = parts(model)[-1]
    fields = Fields(estimator)
    DESCRIPTIONS[type(estimator)](fields)
    pipeline = {} if model is estimator else {"version": VERSION, "pipeline": Steps(estimator, fields.arrays).written(model)}
    described = {name: describe(name, array) for name, array in fields.arrays.items()}
    header = {
        "format": FORMAT,
        "version": PLAIN_VERSION,
        "written_by": WRITTEN_BY,
        "estimator": type(estimator).__name__,
        "parameters": {name: encode(name, value) for name, value in estimator.get_params(deep=False).items()},
        "fitted": fields.values,
        "arrays": {name: entry for name, (entry, _) in described.items()},
        **pipeline,
    }
    try:
        text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        what = f"{error.object[error.start]!r} is half a character, and a model file holds texts in UTF-8"
        raise NotSupportedError(f"{what}. Clean the texts, or pickle the model.") from error
    return [(HEADER, [text]), *((f"{name}.npy", pieces) for name, (_, pieces) in described.items())]


def read_model(file: IO[bytes]) -> Any:
    """The estimator of an open model file."""
    members = read_archive(file)
    try:
        header = _header(members)
        kind = KINDS[header["estimator"]]
        model = decode_estimator(kind, header["parameters"])
        arrays = {name: read_array(members, name, entry) for name, entry in header["arrays"].items()}
        has_steps = header["version"] > PLAIN_VERSION
        of_steps = {name: arrays.pop(name) for name in list(arrays) if has_steps and name.startswith("step")}
        fields = Fields(model, header["fitted"], arrays)
        DESCRIPTIONS[kind](fields)
        fields.end()
        model = Steps(model, of_steps).read(header["pipeline"]) if has_steps else model
    except RecursionError as error:
        raise damaged(HEADER, "its values are nested too deeply") from error
    return model


def _header(members: dict[str, bytearray]) -> dict[str, Any]:
    """The header, each field of the right type; the members of the archive are those that it names."""
    is_there = HEADER in members and len(members[HEADER]) <= MAX_HEADER
    require(is_there, HEADER, f"it is missing, or longer than {MAX_HEADER} bytes")
    try:
        header: dict[str, Any] = json.loads(members[HEADER].decode("utf-8"))
    except ValueError as error:
        raise damaged(HEADER, f"it is no JSON ({error})") from error
    is_ours = isinstance(header, dict) and header.get("format") == FORMAT
    require(is_ours, "format", f"{HEADER} does not say {FORMAT!r}, so this is no model file")
    for name, kind in PARTS.items():
        require(type(header.get(name)) is kind, name, "it is missing or of a wrong type")
    number, estimator = header["version"], header["estimator"]
    require(1 <= number <= VERSION, "version", f"{number} where 1 to {VERSION} can be read. Install a newer maxmargin")
    require(estimator in KINDS, "estimator", f"{estimator!r} is not one of {', '.join(KINDS)}")
    named = {f"{name}.npy" for name in header["arrays"]} | {HEADER}
    known = {*PARTS, "pipeline"} if number > PLAIN_VERSION else set(PARTS)
    require(known <= set(header), "pipeline", f"it is missing; version {PLAIN_VERSION} has none")
    for name in (set(header) - known) | (set(members) - named):
        raise damaged(name, "it has no meaning here")
    return header


FORMATS = ("maxmargin", *WRITERS, "onnx")
FOREIGN = {
    b"\x80": "This looks like a pickle, which is code: it is not read. Load it with what wrote it, then use save().",
    b"solver_type": "This is a model of LIBLINEAR, whose classes have other machines. Use LIBSVM's or SVM-light's format.",
    b"": "This is no model file: neither our own (a zip), nor LIBSVM's, nor SVM-light's. ONNX files can be written, not read.",
}
"""What is said of files that are not read, by their first bytes."""


def load(path: str | os.PathLike[str], *, n_features: int | None = None, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model file: our own, LIBSVM's or SVM-light's, told apart by their content.

    Nothing in a model file is run, and nothing is believed: a truncated, altered or crafted file is refused.

    Parameters
    ----------
    path : path
        The file.
    n_features : int, optional
        How many features samples have, for LIBSVM's and SVM-light's files, which do not say it: by default as many as the
        support vectors need. For a precomputed kernel, the number of training samples. Our files know, and must agree.
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    estimator
        As it was saved: an estimator, or a Pipeline that takes raw samples. From LIBSVM and SVM-light an `SVC` that predicts,
        without certificate, C and numbers of training samples; its `classes_` stand in the file's order, which decides between
        classes with as many votes.

    Raises
    ------
    ModelFileError
        With the name of the damaged part in `part`.
    NotSupportedError
        If it is a model that is none of ours: a regression, for example.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from maxmargin import LinearSVC, load, save
    >>> model = LinearSVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "a.maxmargin")
    ...     load(Path(folder) / "a.maxmargin").decision_function([[1.0]]) == model.decision_function([[1.0]])
    array([ True])
    """
    if n_features is not None and (type(n_features) is not int or not 0 < n_features <= LARGEST_INDEX):
        raise InvalidInputError(f"n_features must be a positive whole number or None, got {n_features!r}.")
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > max_bytes:
                raise ModelFileError(f"{path!s} takes {size} bytes, more than max_bytes={max_bytes}.", "size")
            return _read_any(file, n_features)
    except OSError as error:
        raise ModelFileError(f"Cannot read {os.fspath(path)!r}: {error.strerror or error}.", "file") from error


def _read_any(file: IO[bytes], n_features: int | None) -> Any:
    start = file.read(32)
    file.seek(0)
    for first, read in READERS.items():
        if start.startswith(first):
            return read(file, n_features)
    if not start.startswith(b"PK"):
        what = next(words for first, words in FOREIGN.items() if start.startswith(first))
        raise ModelFileError(what if start else "The file is empty: no model is in it.", "first bytes")
    model = read_model(file)
    known = getattr(parts(model)[0], "n_features_in_", "no")
    if n_features not in (None, known):
        raise ModelFileError(f"The model has {known} features, not {n_features} (texts have none).", "n_features")
    return model


def export(estimator: Any, path: str | os.PathLike[str], format: str = "auto") -> None:
    """Write a fitted estimator for other programs: LIBSVM, SVM-light, ONNX.

    Parameters
    ----------
    estimator : SVC, LinearSVC, HardMarginSVC, PegasosSVC or Perceptron, a Pipeline that ends with one, or a search
        Fitted. Of the steps before the last, ONNX takes StandardScaler, MinMaxScaler, MaxAbsScaler and RobustScaler; the other
        formats take none.
    path : path
        Replaced in one step when all is written.
    format : {"auto", "libsvm", "svmlight", "onnx", "maxmargin"}
        "auto" goes by the suffix: ``.libsvm``, ``.svmlight``, ``.onnx``, ``.maxmargin`` (the same as `save`).

    Raises
    ------
    NotSupportedError
        Where the format cannot hold the model, with the reason: predictions would not be the same.

    Notes
    -----
    "libsvm": whole numbers as labels, named kernels, two classes or one-vs-one. "svmlight": labels −1 and 1, no precomputed
    kernel. "onnx": input `X` (float64), outputs `label` and `scores` (= `decision_function`); needs the package onnx. None
    of them holds C, the certificate or the numbers of training samples: `save` does.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from maxmargin import SVC, export, load
    >>> model = SVC(kernel="linear").fit([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     export(model, Path(folder) / "a.svmlight")
    ...     print((Path(folder) / "a.svmlight").read_text().splitlines()[1])
    ...     load(Path(folder) / "a.svmlight").predict([[0.5], [2.5]])
    0 # kernel type
    array([-1,  1])
    """
    name = Path(os.fsdecode(path)).suffix.removeprefix(".") if format == "auto" else format
    if name not in FORMATS:
        what = f"{', '.join(FORMATS)}, or 'auto' where the suffix says it (.onnx)"
        raise InvalidInputError(f"format must be one of {what}, got {format!r} for {os.fspath(path)!r}.")
    if name == "maxmargin":
        save(estimator, path)
        return
    *steps, model = parts(estimator)
    if steps and name in WRITERS:
        raise NotSupportedError(
            f"A file of this format ({name}) holds a model, not the steps before it: {', '.join(map(repr, steps))}. Apply them "
            "yourself and export the last step, e.g. pipeline[-1]; or use save(), or ONNX, which take scalers along."
        )
    machine = machine_of(model)
    with replacing(path) as file:
        if name in WRITERS:
            WRITERS[name](machine, file)
        else:
            write_onnx(machine, file, steps)
