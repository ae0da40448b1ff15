"""The model file: a zip of header.json and raw .npy arrays. docs/model_files.md is its specification.

Nothing in it is code, so reading one cannot run any. Nothing in it is believed: sizes are compared before bytes are read,
checksums before they are used, and every field is checked by itself and against the others.
"""

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from typing import IO, Any, NamedTuple

from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.estimators import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron
from maxmargin.io._atomic import replacing
from maxmargin.io._model.archive import MAX_BYTES, MAX_MEMBERS, Archive, archive_size, write_archive
from maxmargin.io._model.arrays import describe, member_name
from maxmargin.io._model.fields import Input, Output
from maxmargin.io._model.parameters import decode_parameters, encode_parameters
from maxmargin.io._model.state_kernel import read_kernel_machine, write_kernel_machine
from maxmargin.io._model.state_linear import read_linear, write_linear
from maxmargin.io._model.state_one_vs_rest import (
    read_pegasos,
    read_perceptron,
    write_pegasos,
    write_perceptron,
)
from maxmargin.io._model.values import parse_json

FORMAT, VERSION = "maxmargin model", 1
HEADER = "header.json"
MAX_HEADER = 64 << 20


class Kind(NamedTuple):
    """An estimator, and how its fitted attributes are written and read."""

    type: type[Any]
    write: Callable[[Any, Output], None]
    read: Callable[[Any, Input], None]


KINDS = {
    kind.type.__name__: kind
    for kind in (
        Kind(SVC, write_kernel_machine, read_kernel_machine),
        Kind(HardMarginSVC, write_kernel_machine, read_kernel_machine),
        Kind(LinearSVC, write_linear, read_linear),
        Kind(PegasosSVC, write_pegasos, read_pegasos),
        Kind(Perceptron, write_perceptron, read_perceptron),
    )
}


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
    members = _members(estimator)
    with replacing(path) as file:
        write_archive(file, members)
        file.flush()
        try:
            read_model(file, file.tell())
        except ModelFileError as error:
            raise InvalidInputError(f"This model contradicts itself and was not saved. {error}") from error


def _members(estimator: Any) -> list[tuple[str, list[Any]]]:
    kind = KINDS.get(type(estimator).__name__)
    if kind is None or kind.type is not type(estimator):
        raise NotSupportedError(
            f"A model file holds {', '.join(KINDS)}, not {type(estimator).__module__}.{type(estimator).__qualname__}. "
            "Pass the fitted estimator itself; of a pipeline its last step, e.g. pipeline[-1]."
        )
    check_is_fitted(estimator, "intercept_")
    out = Output()
    kind.write(estimator, out)
    described = {name: describe(name, array) for name, array in out.arrays.items()}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"maxmargin {version('maxmargin')}",
        "estimator": type(estimator).__name__,
        "parameters": encode_parameters(estimator),
        "fitted": out.values,
        "arrays": {name: entry for name, (entry, _) in described.items()},
    }
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, indent=1).encode()
    members = [(HEADER, [text]), *((member_name(name), pieces) for name, (_, pieces) in described.items())]
    if archive_size(members) > MAX_BYTES or len(text) > MAX_HEADER or len(members) > MAX_MEMBERS:
        raise NotSupportedError(
            f"The model takes {archive_size(members):.3g} bytes ({len(text):.3g} of them its header); a model file holds at "
            f"most {MAX_BYTES:.3g} ({MAX_HEADER:.3g}). Train on fewer samples, or pickle it."
        )
    return members


def read_model(file: IO[bytes], size: int) -> Any:
    """The estimator of an open model file of some size."""
    archive = Archive(file, size)
    header = _header(archive)
    fitted, arrays = header["fitted"], header["arrays"]
    Input.check_members(archive, arrays)
    kind = KINDS.get(header["estimator"])
    if kind is None:
        raise ModelFileError(
            f"The model file holds {header['estimator']!r}, not one of {', '.join(KINDS)}.", "estimator"
        )
    model = kind.type(**decode_parameters(kind.type, header["parameters"]))
    fields = Input(archive, fitted, arrays)
    kind.read(model, fields)
    fields.end()
    return model


def _header(archive: Archive) -> dict[str, Any]:
    member = archive.members.get(HEADER)
    if member is None:
        raise ModelFileError(f"The archive has no {HEADER}: it is no model file.", HEADER)
    if member.size > MAX_HEADER:
        raise ModelFileError(f"The {HEADER} takes {member.size} bytes, at most {MAX_HEADER} are read.", HEADER)
    text = bytearray(member.size)
    archive.read(HEADER, memoryview(text))
    header = parse_json(bytes(text), HEADER)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"The {HEADER} does not say 'format': {FORMAT!r}: it is no model file.", "format")
    number = header.get("version")
    if type(number) is not int or number < 1:
        raise ModelFileError(f"The model file is damaged at 'version': {number!r}.", "version")
    if number > VERSION:
        raise ModelFileError(
            f"The model file has version {number}, this maxmargin reads up to {VERSION}. Install a newer maxmargin.",
            "version",
        )
    wanted = {"format": str, "version": int, "written_by": str, "estimator": str, "parameters": dict, "fitted": dict}
    for name, kind in {**wanted, "arrays": dict}.items():
        if not isinstance(header.get(name), kind):
            raise ModelFileError(f"The model file is damaged at {name!r}: it is missing or of a wrong type.", name)
    unknown = set(header) - {*wanted, "arrays"}
    if unknown:
        raise ModelFileError(f"The model file has a field {min(unknown)!r} that has no meaning.", min(unknown))
    return header
