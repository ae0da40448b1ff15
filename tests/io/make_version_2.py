"""Writes tests/data/version_2: run once, when version 2 of the model file was made. The files must stay readable for ever."""

import json
from pathlib import Path

import numpy as np

from maxmargin import save
from tests.io.pipelines import pipeline, rows

FOLDER = Path(__file__).parent.parent / "data" / "version_2"
NAMES = ("alone", "columns", "minmax", "nested", "one_hot", "ordinal", "quantiles", "standard", "tfidf", "tfidf_steps", "union")


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name in NAMES:
        save(pipeline(name), FOLDER / f"{name}.maxmargin")
        X = rows(name)[:6]
        expected[name] = {
            "X": X if isinstance(X, list) else X.tolist(),
            "is_object": isinstance(X, np.ndarray) and X.dtype.kind == "O",
            "decisions": np.asarray(pipeline(name).decision_function(X)).tolist(),
            "labels": pipeline(name).predict(X).tolist(),
        }
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
