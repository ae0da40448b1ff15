"""Writes tests/data/version_1: run once, when version 1 of the model file was made. The files must stay readable for ever."""

import json
from pathlib import Path

from maxmargin import export, save
from tests.io.models import MAKERS, model, new_samples

FOLDER = Path(__file__).parent.parent / "data" / "version_1"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name in MAKERS:
        fitted = model(name)
        save(fitted, FOLDER / f"{name}.maxmargin")
        X = new_samples(fitted, 6)
        expected[name] = {
            "X": X.tolist(),
            "decisions": fitted.decision_function(X).tolist(),
            "labels": fitted.predict(X).tolist(),
        }
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
    export(model("svc_sigmoid"), FOLDER / "three_classes.libsvm")
    export(model("svc_hard"), FOLDER / "two_classes.libsvm")
    export(model("svc_precomputed"), FOLDER / "precomputed.libsvm")
    export(model("svc_linear_sparse"), FOLDER / "linear.svmlight")


if __name__ == "__main__":
    main()
