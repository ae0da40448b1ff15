"""What all estimators have when they are fitted: classes, features, and where the exact optimum lies."""

import math
import re
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.certificate.optimum_ball import OptimumBall
from maxmargin.estimators.training_data import Fingerprint
from maxmargin.io._model.fields import Array, Input, Output, wrong

HEXADECIMAL = re.compile("[0-9a-f]{16}", re.ASCII)
LABELS = ("b", "i", "u", "f", "U", "S")


class Sizes(NamedTuple):
    """What the shapes of all other fields follow from; n is None where the number of training samples is not known."""

    n_classes: int
    n_features: int
    n: int | None

    @property
    def n_pairs(self) -> int:
        """Problems of one-vs-one."""
        return self.n_classes * (self.n_classes - 1) // 2

    @property
    def n_rests(self) -> int:
        """Problems of one-vs-rest."""
        return 1 if self.n_classes == 2 else self.n_classes


def write_common(model: Any, out: Output) -> None:
    """Classes, features, shape of the training data."""
    out.texts("classes", model.classes_)
    out.values["n_features"] = int(model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        out.texts("feature_names", model.feature_names_in_)
    if hasattr(model, "shape_fit_"):
        out.values["shape_fit"] = [int(side) for side in model.shape_fit_]
    if hasattr(model, "fingerprint_"):
        out.values["fingerprint"] = [f"{number:016x}" for number in model.fingerprint_]
    if hasattr(model, "class_weight_"):
        out.arrays["class_weight"] = model.class_weight_


def read_common(model: Any, fields: Input) -> Sizes:
    """Restore them, and tell the sizes that other fields must agree with."""
    model.classes_ = fields.texts("classes", LABELS, None)
    n_classes = len(model.classes_)
    if n_classes < 2:
        raise wrong("classes", f"a classifier has at least two classes, not {n_classes}")
    model.n_features_in_ = fields.whole("n_features", 1)
    if fields.has("feature_names"):
        model.feature_names_in_ = fields.texts("feature_names", ("U",), model.n_features_in_).astype(object)
    n = None
    if fields.has("shape_fit"):
        shape = fields.listed("shape_fit", 2)
        if not all(type(side) is int and 0 < side < 2**31 for side in shape[:1]) or shape[1] != model.n_features_in_:
            raise wrong("shape_fit", f"{shape!r} where (samples, {model.n_features_in_}) is wanted")
        model.shape_fit_ = tuple(shape)
        n = int(shape[0])
    if fields.has("fingerprint"):  # older files have none
        numbers = fields.listed("fingerprint", len(Fingerprint._fields))
        if not all(isinstance(number, str) and HEXADECIMAL.fullmatch(number) for number in numbers):
            raise wrong("fingerprint", "each number has 16 hexadecimal digits")
        model.fingerprint_ = Fingerprint(*(int(number, 16) for number in numbers))
    if fields.has("class_weight"):
        model.class_weight_ = fields.floats("class_weight", (n_classes,), low=math.ulp(0.0))
    return Sizes(n_classes, model.n_features_in_, n)


def write_balls(balls: list[OptimumBall], out: Output) -> None:
    """Where the exact optimum of each problem lies, if that is known."""
    out.arrays["optimum_balls"] = np.array([list(ball) for ball in balls], dtype=np.float64).reshape(-1, 4)


def read_balls(fields: Input, n_problems: int) -> list[OptimumBall]:
    """One for each problem, or none at all."""
    table: Array = fields.array("optimum_balls", ("f8",), (None, 4))
    if len(table) not in (0, n_problems):
        raise wrong("optimum_balls", f"{len(table)} where 0 or {n_problems} are wanted")
    if np.isnan(table).any() or (table[:, 0] < 0).any() or not np.isfinite(table[:, 3]).all():
        raise wrong("optimum_balls", "a radius is negative, or a number is NaN")
    return [OptimumBall(*row) for row in table.tolist()]


def read_support(fields: Input, n: int) -> Array:
    """The numbers of different training samples."""
    support = fields.indices("support", "i4", (None,), n)
    if len(np.unique(support)) != len(support):
        raise wrong("support", "a sample appears twice")
    return support
