"""Formats of model files: `load` knows them by their content, `export` by their suffix."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from maxmargin.errors import InvalidInputError, ModelFileError
from maxmargin.io._atomic import replacing
from maxmargin.io._formats.libsvm import read_libsvm, write_libsvm
from maxmargin.io._formats.machine import Machine, machine_of
from maxmargin.io._formats.onnx import write_onnx
from maxmargin.io._formats.svmlight_model import FIRST, read_svmlight_model, write_svmlight_model
from maxmargin.io._model.archive import MAX_BYTES
from maxmargin.io._model.model_file import read_model, save
from maxmargin.io._text import LARGEST_INDEX

WRITERS: dict[str, Callable[[Machine, IO[bytes]], None]] = {
    "libsvm": write_libsvm,
    "svmlight": write_svmlight_model,
    "onnx": write_onnx,
}
FORMATS = ("maxmargin", *WRITERS)
FOREIGN = {
    b"\x80": "This looks like a pickle, which is code: it is not read. Load it with what wrote it, then use save().",
    b"solver_type": "This is a model of LIBLINEAR, whose classes have other machines. Use LIBSVM's or SVM-light's format.",
    b"": (
        "This is no model file: neither our own (a zip), nor LIBSVM's (begins with 'svm_type'), nor SVM-light's "
        "('SVM-light Version'). ONNX files can be written, not read."
    ),
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
        As it was saved. From LIBSVM and SVM-light an `SVC` that predicts, without certificate, C and numbers of training samples;
        its `classes_` stand in the file's order, which decides between classes with as many votes.

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
            return _read(file, n_features)
    except OSError as error:
        raise ModelFileError(f"Cannot read {os.fspath(path)!r}: {error.strerror or error}.", "file") from error


def _read(file: IO[bytes], n_features: int | None) -> Any:
    start = file.read(32)
    file.seek(0)
    if start.startswith(b"PK"):
        model = read_model(file)
        if n_features not in (None, model.n_features_in_):
            raise ModelFileError(f"The model has {model.n_features_in_} features, not {n_features}.", "n_features")
        return model
    if start.startswith(b"svm_type"):
        return read_libsvm(file, n_features)
    if start.startswith(FIRST):
        return read_svmlight_model(file, n_features)
    what = next(words for first, words in FOREIGN.items() if start.startswith(first))
    raise ModelFileError(what if start else "The file is empty: no model is in it.", "first bytes")


def export(estimator: Any, path: str | os.PathLike[str], format: str = "auto") -> None:
    """Write a fitted estimator for other programs: LIBSVM, SVM-light, ONNX.

    Parameters
    ----------
    estimator : SVC, LinearSVC, HardMarginSVC, PegasosSVC or Perceptron
        Fitted.
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
    if format == "auto":
        format = Path(os.fsdecode(path)).suffix.removeprefix(".")
        if format not in FORMATS:
            raise InvalidInputError(
                f"{os.fspath(path)!r} has none of the suffixes {', '.join('.' + name for name in FORMATS)}. "
                "Use one of them, or say format=."
            )
    if format == "maxmargin":
        save(estimator, path)
        return
    if format not in WRITERS:
        raise InvalidInputError(f"format must be 'auto' or one of {', '.join(map(repr, FORMATS))}, got {format!r}.")
    machine = machine_of(estimator)
    with replacing(path) as file:
        WRITERS[format](machine, file)
