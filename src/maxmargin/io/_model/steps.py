"""The steps of a Pipeline: scikit-learn's transformers that are data, each described once in `FITTED`.

A step is its class, its parameters and what it has learned. scikit-learn itself checks the parameters, and makes again what it
keeps under private names: a file holds only what has kept its name and meaning since version 1.6. Before a pipeline that was read
is believed, one sample passes its steps.
"""

import inspect
import math
import re
import warnings
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import sklearn
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import ModelFileError, NotSupportedError
from maxmargin.io._model.archive import Array, damaged, require
from maxmargin.io._model.fields import Fields
from maxmargin.io._model.step_values import numeric, plain, unplain

SCALED = {"scale_": "d+", "n_samples_seen_": "d"}
SVD = {"components_": "kd", "explained_variance_": "k", "explained_variance_ratio_": "k", "singular_values_": "k"}
SCORES = {"scores_": "d~", "pvalues_": "d~"}
FITTED: dict[str, dict[str, dict[str, str]]] = {
    "preprocessing": {
        "StandardScaler": {"mean_": "d", "var_": "d", **SCALED},
        "MinMaxScaler": {"min_": "d", "data_min_": "d", "data_max_": "d", "data_range_": "d", **SCALED},
        "MaxAbsScaler": {"max_abs_": "d", **SCALED},
        "RobustScaler": {"center_": "d", "scale_": "d+"},
        "QuantileTransformer": {"quantiles_": "qd", "references_": "q", "n_quantiles_": ""},
        **{kind: {"categories_": "columns"} for kind in ("OneHotEncoder", "OrdinalEncoder")},
        **{kind: {} for kind in ("Normalizer", "Binarizer", "FunctionTransformer")},
    },
    "impute": {"SimpleImputer": {"statistics_": "d~"}},
    "decomposition": {
        "PCA": {"mean_": "d", **SVD, "n_components_": "", "n_samples_": "", "noise_variance_": ""},
        "TruncatedSVD": SVD,
    },
    "feature_selection": {"VarianceThreshold": {"variances_": "d~"}, "SelectKBest": SCORES, "SelectPercentile": SCORES},
    "feature_extraction.text": {
        "CountVectorizer": {"vocabulary_": "terms", "fixed_vocabulary_": ""},
        "TfidfVectorizer": {"vocabulary_": "terms", "fixed_vocabulary_": "", "idf_": "t"},
        "TfidfTransformer": {"idf_": "d"},
        "HashingVectorizer": {},
    },
    "pipeline": {"Pipeline": {}, "FeatureUnion": {}},
    "compose": {"ColumnTransformer": {"sparse_output_": ""}},
}
"""What each transformer has learned, by scikit-learn's modules: arrays by the letters of their sides (d features; + positive,
~ NaN and ∞ too), a number where there is no letter, "columns" of values, "terms" in the order of their columns."""

MODULES = {kind: module for module, kinds in FITTED.items() for kind in kinds}
INNER = {"Pipeline": "steps", "FeatureUnion": "transformer_list", "ColumnTransformer": "transformers"}
"""The parameters in which steps have steps of their own."""

LEFT_OUT = {*INNER.values(), "remainder", "n_jobs", "memory"}
"""Parameters that are the steps themselves, or say how to compute and not what."""

ONLY: dict[str, Any] = {"min_frequency": None, "max_categories": None, "add_indicator": False, "input": "content"}
"""Parameters of which one value is kept: with others scikit-learn learns what has no public name, or reads files."""

GROUP = re.compile(r"(?<!\\)(\\\\)*\((?!\?[a-zA-Z]+\))")
"""A group in a regular expression: where one is repeated, a search can take for ever."""

LAST = "estimator"
"""What stands in place of the model itself, which is described beside the steps."""

MOST_FEATURES, DEEPEST = 1 << 24, 16
"""Features of the sample that passes the steps (128 MB), and pipelines in one another."""


def best(model: Any) -> Any:
    """What a search has found; anything else as it is."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    return model


def parts(model: Any) -> list[Any]:
    """The steps that samples pass, one after the other, the model last: of searches the best, of nested pipelines in a row."""
    model = best(model)
    if type(model).__name__ != "Pipeline":
        return [model]
    return [part for _, step in model.steps if step not in ("passthrough", None) for part in parts(step)] or [model]


class Steps:
    """Steps on their way into a file or out of it, around a model; their arrays are numbered in the order of the steps."""

    def __init__(self, estimator: Any, arrays: dict[str, Array]) -> None:
        self.estimator, self.arrays, self._count = estimator, arrays, 0

    def written(self, step: Any, name: str = "pipeline") -> Any:
        """What the header says of a step; its arrays are added to `arrays`."""
        step = best(step)
        if step is self.estimator or step is None or isinstance(step, str):
            return LAST if step is self.estimator else step
        kind = type(step).__name__
        if kind not in MODULES or type(step) is not _class(kind):
            raise NotSupportedError(
                f"Step {name!r}, {type(step).__module__}.{kind}, cannot be kept in a model file, which is data. Steps that can: "
                f"{', '.join(MODULES)}. Apply this one before the pipeline, or pickle the pipeline."
            )
        if FITTED[MODULES[kind]][kind]:
            check_is_fitted(step)
        self._count += 1
        fields = Fields(step)
        _learned(fields, kind, f"step{self._count}_")
        self.arrays |= fields.arrays
        said: dict[str, Any] = {"type": kind, "parameters": _parameters(step, name), "fitted": fields.values}
        if output := getattr(step, "_sklearn_output_config", {}).get("transform"):
            said["output"] = output
        if kind in INNER:
            said["steps"] = [[label, self.written(child, label), *columns] for label, child, *columns in _children(step)]
        return said

    def read(self, said: Any) -> Any:
        """A pipeline around the model, as `written` has described it; whatever scikit-learn refuses is an error of ours."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a sample of zeros, without names, is no reason for warnings
                model = self._read(said)
                for name in self.arrays:
                    raise damaged(name, "no step has a place for it")
                *steps, last = parts(model)
                require(last is self.estimator, "pipeline", "the model is not its last step")
                row: Any = _sample(*steps) if steps else None
                for step in steps:
                    row = step.transform(row)
        except (ModelFileError, RecursionError):
            raise
        except Exception as error:  # of any kind, from any transformer
            raise damaged("pipeline", " ".join(str(error).split()).rstrip(".")) from error
        are_right = not steps or np.shape(row) == (1, last.n_features_in_)
        require(are_right, "pipeline", f"its steps do not make the {last.n_features_in_} features of the model")
        return model

    def _read(self, said: Any, is_last: bool = True, depth: int = 0) -> Any:
        require(depth <= DEEPEST, "pipeline", f"steps in steps, more than {DEEPEST} deep")
        if said is None or isinstance(said, str):
            require(said != LAST or is_last, "pipeline", "the model is not its last step")
            return self.estimator if said == LAST else said
        match said:
            case {"type": str(kind), "parameters": dict(parameters), "fitted": dict(values), **others} if kind in MODULES:
                is_right = set(others) - {"output"} == ({"steps"} if kind in INNER else set())
                require(is_right, "pipeline", f"a {kind} lacks its steps, or says what has no meaning here")
            case _:
                raise damaged("pipeline", "a step is of an unknown type, or without parameters or fitted values")
        self._count += 1
        prefix = f"step{self._count}_"
        own = {name: self.arrays.pop(name) for name in list(self.arrays) if name.startswith(prefix)}
        fields = Fields(SimpleNamespace(), values, own)
        learned = _learned(fields, kind, prefix)
        fields.end()
        settings = {name: unplain(name, value) for name, value in parameters.items()}
        known = inspect.signature(_class(kind)).parameters
        for name, value in settings.items():
            require(name in known, name, f"{kind} of scikit-learn {sklearn.__version__} has no such parameter, a newer one may")
            require(not (reason := _reason(name, value)), name, reason)
        inner: Any = others.get("steps", [])
        ends = [is_last and kind == "Pipeline" and place == len(inner) for place in range(1, len(inner) + 1)]
        pairs = zip(inner, ends, strict=True)
        children = [(name, self._read(child, end, depth + 1), *columns) for (name, child, *columns), end in pairs]
        return _made(kind, settings, learned, children, others.get("output"))


def _class(kind: str) -> Any:
    return getattr(import_module(f"sklearn.{MODULES[kind]}"), kind)


def _children(step: Any) -> list[tuple[Any, ...]]:
    """(name, step) of the steps in a step; of a ColumnTransformer with the numbers of their columns, or of the column."""
    if type(step).__name__ != "ColumnTransformer":
        return list(getattr(step, INNER[type(step).__name__]))
    found = []
    for name, child, columns in step.transformers_:
        numbers = [int(number) for number in step._transformer_to_input_indices[name]]
        found.append((name, child if numbers else "drop", numbers[0] if np.isscalar(columns) else numbers))
    return found


def _parameters(step: Any, name: str) -> dict[str, Any]:
    """The parameters of a step that differ from their defaults."""
    defaults, found = inspect.signature(type(step)).parameters, {}
    for key, value in step.get_params(deep=False).items():
        default = defaults[key].default
        if key in LEFT_OUT or value is default or (type(value) is type(default) and value == default):
            continue
        if reason := _reason(key, value):
            raise NotSupportedError(f"Step {name!r} cannot be kept in a model file: {reason}. Change it, or pickle the pipeline.")
        found[key] = plain(f"{name}__{key}", value)
    return found


def _reason(name: str, value: Any) -> str:
    """Why a parameter cannot be kept, if it cannot."""
    if name in ONLY and (type(value) is not type(ONLY[name]) or value != ONLY[name]):
        return f"{name}={value!r} where only {ONLY[name]!r} is kept"
    has_group = name == "token_pattern" and isinstance(value, str) and GROUP.search(value)
    return f"token_pattern={value!r} has a group, (…), and its search may take for ever" if has_group else ""


def _learned(f: Fields, kind: str, prefix: str) -> dict[str, Any]:
    """What a step has learned, from itself or from the file, each value of the right type and size."""
    found: dict[str, Any] = {}
    sides: dict[str, Any] = {}
    if kind in ("Pipeline", "FeatureUnion"):
        return found
    for attribute, form in {"n_features_in_": "", **FITTED[MODULES[kind]][kind]}.items():
        name, value = attribute.removesuffix("_"), None if f.is_reading else numeric(getattr(f.model, attribute, f))
        is_array = f"{prefix}{name}" in f.arrays if f.is_reading else isinstance(value, np.ndarray) and value.dtype != object
        letters = re.findall("[a-z]", form)
        if value is f or (f.is_reading and not is_array and name not in f.values):
            continue  # not learned
        if is_array and letters:
            shape = tuple(map(sides.get, letters))
            value = f.array(f"{prefix}{name}", ("f8", "f4"), shape, partial(_given, value), "~" not in form)
            require("+" not in form or (value > 0).all(), name, "a value is not positive")
            sides |= dict(zip(letters, value.shape, strict=True))
        else:
            value = unplain(name, f.value(name, source=partial(_given, plain(name, value))))
            is_number = isinstance(value, int | float) and math.isfinite(value)
            match form:
                case "":
                    is_right = is_number
                case "terms":
                    is_right, sides["t"] = isinstance(value, dict), len(value)
                case "columns":
                    is_right = isinstance(value, list) and len(value) == sides["d"]
                    is_right = is_right and all(isinstance(each, np.ndarray) and each.size for each in value)
                case _:
                    is_right = value is None or is_number or np.shape(value) == (sides["d"],)
            require(is_right, name, f"no value of a {kind}")
        if attribute == "n_features_in_":
            sides["d"] = value
            require(type(value) is int and 0 < value <= MOST_FEATURES, name, f"{value!r} is no number of features")
        found[attribute] = value
    if "d" in sides and f.has(f"{prefix}feature_names", "feature_names_in_"):
        found["feature_names_in_"] = f.texts(f"{prefix}feature_names", ("U",), sides["d"], "feature_names_in_")
    return found


def _given(value: Any, _: Any) -> Any:
    """The source of a field."""
    return value


def _made(kind: str, settings: dict[str, Any], learned: dict[str, Any], children: list[tuple[Any, ...]], output: Any) -> Any:
    """A fitted step: scikit-learn checks its parameters, and makes what it keeps under private names."""
    if kind == "ColumnTransformer":
        step = _column_transformer(settings, learned, children)
    else:
        step = _class(kind)(**settings, **({INNER[kind]: children} if kind in INNER else {}))
        if kind != "FeatureUnion":
            step._validate_params()
    if kind in ("Pipeline", "FeatureUnion"):
        getattr(step, "_validate_steps" if kind == "Pipeline" else "_validate_transformers")()
    vars(step).update({name: value for name, value in learned.items() if name != "idf_"})
    through = {name: learned[f"{name}_"] for name in ("categories", "vocabulary") if f"{name}_" in learned}
    if through or kind == "SimpleImputer":
        before = step.get_params(deep=False)
        step.set_params(**through).fit(_sample(step)).set_params(**before)
    for attribute, value in learned.items():
        setattr(step, attribute, value)
    if output is not None:
        require(output in ("default", "pandas", "polars"), "output", f"{output!r} is not known")
        step.set_output(transform=output)
    return step


def _column_transformer(settings: dict[str, Any], learned: dict[str, Any], children: list[tuple[Any, ...]]) -> Any:
    """One that is fitted on a single sample, with steps that stay as they are."""
    from sklearn.frozen import FrozenEstimator

    def thawed(steps: Any) -> list[tuple[Any, ...]]:
        return [(name, getattr(child, "estimator", child), columns) for name, child, columns in steps]

    frozen = [(name, child if child == "drop" else FrozenEstimator(child), columns) for name, child, columns in children]
    rest = frozen.pop()[1] if frozen and frozen[-1][0] == "remainder" else "drop"
    step = _class("ColumnTransformer")(frozen, remainder=rest, **settings)
    step._validate_params()
    step.fit(_combined(learned["n_features_in_"], children))
    step.transformers, step.transformers_ = thawed(frozen), thawed(step.transformers_)
    step.remainder = getattr(rest, "estimator", rest)
    return step


def _combined(width: int, children: Any) -> Array:
    """One sample that the steps of a ColumnTransformer can take."""
    row = np.zeros((1, width), dtype=object)
    for _, child, columns in children:
        sample = np.zeros(1) if child == "drop" else np.asarray(_sample(child))
        if sample.dtype.kind != "f" or sample.any():
            row[0, columns] = sample[0]
    return row


def _sample(*steps: Any) -> Any:
    """One sample that steps can take, one after the other; imputers and identities pass it on as it is."""
    step = next((step for step in steps if type(step).__name__ not in ("SimpleImputer", "FunctionTransformer")), steps[0])
    kind = type(step).__name__
    if kind == "Pipeline":
        return _sample(*parts(step))
    if kind == "FeatureUnion":
        samples = [_sample(child) for _, child in step.transformer_list if child not in ("drop", "passthrough")]
        return next((sample for sample in samples if np.asarray(sample).dtype.kind != "f"), samples[0])
    if kind == "ColumnTransformer":
        return _combined(step.n_features_in_, step.transformers_)
    if kind == "HashingVectorizer" or hasattr(step, "vocabulary_"):
        return [""]
    if kind == "SimpleImputer" and len(steps) == 1:
        return step.statistics_[np.newaxis]
    if hasattr(step, "categories_"):
        are_numbers = all(values.dtype.kind in "biuf" for values in step.categories_)
        return np.array([[values[0] for values in step.categories_]], dtype=None if are_numbers else object)
    return np.zeros((1, steps[0].n_features_in_))
