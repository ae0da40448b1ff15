"""The model file: a zip of header.json and raw .npy arrays. docs/model_files.md is its specification.

Nothing in it is code, so reading one cannot run any. Nothing in it is believed: sizes are compared before bytes are read,
checksums before they are used, and every field is checked by itself and against the others.
"""

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from typing import IO, Any

from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.estimators import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron
from maxmargin.io._atomic import replacing
from maxmargin.io._model.archive import MAX_CONTENT, MAX_MEMBERS, Archive, damaged, describe, require, write_archive
from maxmargin.io._model.fields import Fields
from maxmargin.io._model.fitted import describe_kernel_machine, describe_linear, describe_pegasos, describe_perceptron
from maxmargin.io._model.parameters import decode_parameters, encode, parse_json

FORMAT, VERSION = "maxmargin model", 1
HEADER = "header.json"
MAX_HEADER = 64 << 20
TEXTS, TABLES = ("format", "written_by", "estimator"), ("parameters", "fitted", "arrays")
PARTS = {**dict.fromkeys(TEXTS, str), "version": int, **dict.fromkeys(TABLES, dict)}
"""The fields of the header, and their types."""

DESCRIPTIONS: dict[type[Any], Callable[[Fields], None]] = {
    SVC: describe_kernel_machine,
    HardMarginSVC: describe_kernel_machine,
    LinearSVC: describe_linear,
    PegasosSVC: describe_pegasos,
    Perceptron: describe_perceptron,
}
KINDS = {kind.__name__: kind for kind in DESCRIPTIONS}


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a model file, which is data and not code.

    Parameters
    ----------
    estimator : SVC, LinearSVC, HardMarginSVC, PegasosSVC or Perceptron
        Fitted. Kept are all parameters and fitted attributes, proofs included; left out are the memory of a warm start and a
        perceptron's `witness_`, which refers to the training data.
    path : path
        The suffix ``.maxmargin`` is our habit. A file that is there is replaced in one step, when the new one was written and
        read back; after an error it is what it was.

    Raises
    ------
    NotSupportedError
        For kernels that are Python functions, labels that are Python objects, classes that are not ours, and models beyond 4 GB.

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
    """
    if type(estimator) not in DESCRIPTIONS:
        raise NotSupportedError(
            f"A model file holds {', '.join(KINDS)}, not {type(estimator).__module__}.{type(estimator).__qualname__}. "
            "Pass the fitted estimator itself; of a pipeline its last step, e.g. pipeline[-1]."
        )
    check_is_fitted(estimator, "intercept_")
    try:
        members = _members(estimator)
        with replacing(path) as file:
            write_archive(file, members)
            file.flush()
            read_model(file)
    except ModelFileError as error:
        raise InvalidInputError(f"This model contradicts itself and was not saved. {error}") from error


def _members(estimator: Any) -> list[tuple[str, list[Any]]]:
    fields = Fields(estimator, {}, {})
    DESCRIPTIONS[type(estimator)](fields)
    described = {name: describe(name, array) for name, array in fields.arrays.items()}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"maxmargin {version('maxmargin')}",
        "estimator": type(estimator).__name__,
        "parameters": {name: encode(name, value) for name, value in estimator.get_params(deep=False).items()},
        "fitted": fields.values,
        "arrays": {name: entry for name, (entry, _) in described.items()},
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, indent=1).encode()
    members = [(HEADER, [text]), *((f"{name}.npy", pieces) for name, (_, pieces) in described.items())]
    size = sum(len(piece) for _, pieces in members for piece in pieces)
    if size > MAX_CONTENT or len(text) > MAX_HEADER or len(members) > MAX_MEMBERS:
        raise NotSupportedError(
            f"The model takes {size:.3g} bytes ({len(text):.3g} of them its header); a model file holds at most "
            f"{MAX_CONTENT:.3g} ({MAX_HEADER:.3g}). Train on fewer samples, or pickle it."
        )
    return members


def read_model(file: IO[bytes]) -> Any:
    """The estimator of an open model file."""
    archive = Archive(file)
    try:
        header = _header(archive)
        kind = KINDS[header["estimator"]]
        model = kind(**decode_parameters(kind, header["parameters"]))
        fields = Fields(model, header["fitted"], header["arrays"], archive)
        DESCRIPTIONS[kind](fields)
        fields.end()
    except RecursionError as error:
        raise damaged(HEADER, "its values are nested too deeply") from error
    return model


def _header(archive: Archive) -> dict[str, Any]:
    """The header, each field of the right type; the members of the archive are those that it names."""
    is_there = HEADER in archive.members and archive.members[HEADER].size <= MAX_HEADER
    require(is_there, HEADER, f"it is missing, or longer than {MAX_HEADER} bytes")
    header: dict[str, Any] = parse_json(archive.read(HEADER), HEADER)
    is_ours = isinstance(header, dict) and header.get("format") == FORMAT
    require(is_ours, "format", f"{HEADER} does not say {FORMAT!r}, so this is no model file")
    for name, kind in PARTS.items():
        require(type(header.get(name)) is kind, name, "it is missing or of a wrong type")
    number, estimator = header["version"], header["estimator"]
    require(1 <= number <= VERSION, "version", f"{number} where 1 to {VERSION} can be read. Install a newer maxmargin")
    require(estimator in KINDS, "estimator", f"{estimator!r} is not one of {', '.join(KINDS)}")
    members = {f"{name}.npy" for name in header["arrays"]} | {HEADER}
    for name in (set(header) - set(PARTS)) | (set(archive.members) - members):
        raise damaged(name, "it has no meaning here")
    return header
