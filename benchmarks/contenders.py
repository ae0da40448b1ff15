"""The peers of the linear suite: one class each, which trains ½‖w‖² + C Σ max(0, 1 − y⟨w, x⟩) without a bias.

All of them solve the dual and show its value, so each is judged by its own certified gap: P from its w, D from its α.
Cyanure is not among them: it has the squared hinge and the logistic loss, but not the hinge.

LIBLINEAR and multi-core LIBLINEAR both install a module called `liblinear`. So the multi-core one goes into a folder of its own
and is loaded under another name:

    pip install --no-deps --target build/liblinear-multicore liblinear-multicore
"""

import importlib
import importlib.util
import re
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import sklearn.svm

from benchmarks.timing import cores

MULTICORE = Path(__file__).parent.parent / "build" / "liblinear-multicore"


@dataclass(frozen=True)
class Answer:
    """The weights, the value of the dual at the contender's own α, and the epochs that took; of several problems arrays."""

    w: Any
    dual: Any
    epochs: int


class Contender(ABC):
    """Trains at a tolerance of its own; `loud` makes it show its dual value, and is not timed."""

    name: ClassVar[str]
    package: ClassVar[str]
    folders: ClassVar[list[str]] = sys.path
    most_epochs: ClassVar[int] = 20_000

    def version(self) -> str | None:
        """The installed version, or None."""
        wanted = self.package.replace("-", "_")
        found = (d for d in distributions(path=self.folders) if d.metadata["Name"].replace("-", "_") == wanted)
        return next((d.version for d in found), None)

    def prepare(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The data as this library takes them; not timed."""
        return X, y

    @abstractmethod
    def train(self, X: Any, y: Any, C: float, tol: float, epochs: int, loud: bool = False) -> Any:
        """Fit to the tolerance, or as far as so many epochs lead."""

    @abstractmethod
    def read(self, model: Any, printed: str, y: Any, C: float) -> Answer:
        """What a loud training found."""


class ScikitLearn(Contender):
    """LinearSVC(loss="hinge"): LIBLINEAR's coordinate descent, with a limit of epochs that can be set."""

    name = "scikit-learn"
    package = "scikit-learn"
    most_epochs = 1_000_000
    fit_intercept: ClassVar[bool] = False

    def train(self, X: Any, y: Any, C: float, tol: float, epochs: int, loud: bool = False) -> Any:
        """Fit."""
        return self.machine(C, tol, epochs, loud).fit(X, y)

    def machine(self, C: float, tol: float, epochs: int, loud: bool = False) -> Any:
        """The estimator, not fitted."""
        return sklearn.svm.LinearSVC(
            loss="hinge",
            C=C,
            tol=tol,
            max_iter=epochs,
            fit_intercept=self.fit_intercept,
            dual=True,
            random_state=0,
            verbose=int(loud),
        )

    def read(self, model: Any, printed: str, y: Any, C: float) -> Answer:
        """The dual value is printed."""
        return Answer(model.coef_[0], printed_duals(printed)[-1], int(model.n_iter_))


class _Liblinear(Contender):
    """Its own Python interface, solver 3. The limit of 300 epochs is fixed in its source."""

    most_epochs = 300
    options: ClassVar[str] = "-s 3"

    @abstractmethod
    def module(self) -> Any:
        """Its liblinearutil."""

    def prepare(self, X: Any, y: Any) -> tuple[Any, Any]:
        """It knows scipy's matrices, not its arrays, and takes minutes for dense rows."""
        return sp.csr_matrix(X), np.asarray(y, dtype=np.float64)

    def train(self, X: Any, y: Any, C: float, tol: float, epochs: int, loud: bool = False) -> Any:
        """Fit; its conversion of the data is part of it, as it is in scikit-learn."""
        return self.module().train(y, X, f"{self.options} -c {C} -e {tol}{'' if loud else ' -q'}")

    def read(self, model: Any, printed: str, y: Any, C: float) -> Answer:
        """The dual value is printed; w speaks for the label that came first."""
        w = np.ctypeslib.as_array(model.w, (model.nr_feature,)) * float(model.get_labels()[0])
        return Answer(w, printed_duals(printed)[-1], int(re.findall(r"#iter = (\d+)", printed)[-1]))


class Liblinear(_Liblinear):
    """LIBLINEAR as its authors publish it."""

    name = "LIBLINEAR"
    package = "liblinear-official"

    def module(self) -> Any:
        """Installed as usual."""
        return importlib.import_module("liblinear.liblinearutil")


class MulticoreLiblinear(_Liblinear):
    """Their multi-core version: gradients in threads, updates in turn."""

    name = "multi-core LIBLINEAR"
    package = "liblinear-multicore"
    folders: ClassVar[list[str]] = [str(MULTICORE)]
    options = f"-s 3 -m {cores()}"

    def module(self) -> Any:
        """From its own folder, as `liblinear_multicore`."""
        name, folder = "liblinear_multicore", MULTICORE / "liblinear"
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
            assert spec is not None
            assert spec.loader is not None
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        return importlib.import_module(f"{name}.liblinearutil")


class SnapML(Contender):
    """Snap ML: coordinate descent in threads; its objective is divided by C."""

    name = "Snap ML"
    package = "snapml"

    def prepare(self, X: Any, y: Any) -> tuple[Any, Any]:
        """It knows scipy's matrices, not its arrays."""
        return (sp.csr_matrix(X) if sp.issparse(X) else X), y

    def train(self, X: Any, y: Any, C: float, tol: float, epochs: int, loud: bool = False) -> Any:
        """Fit."""
        machine = importlib.import_module("snapml").SupportVectorMachine
        history = "summary" if loud else None
        return machine(
            regularizer=1 / C,
            tol=tol,
            max_iter=epochs,
            n_jobs=cores(),
            random_state=0,
            generate_training_history=history,
        ).fit(X, y)

    def read(self, model: Any, printed: str, y: Any, C: float) -> Answer:
        """Its history ends with the dual value, negative."""
        return Answer(np.ravel(model.coef_), -C * model.training_history_[-1]["train_obj"], int(model.n_iter_))


class ReHLine(Contender):
    """ReHLine: coordinate descent for piecewise linear-quadratic losses, stopped on its own relative gap."""

    name = "ReHLine"
    package = "rehline"

    def train(self, X: Any, y: Any, C: float, tol: float, epochs: int, loud: bool = False) -> Any:
        """Fit."""
        machine = importlib.import_module("rehline").plqERM_Ridge
        return machine(loss={"name": "svm"}, C=C, tol=tol, max_iter=epochs).fit(X, y)

    def read(self, model: Any, printed: str, y: Any, C: float) -> Answer:
        """It keeps the value of its dual."""
        return Answer(model.coef_, float(model.dual_objective_), int(model.n_iter_))


def printed_duals(text: str) -> list[float]:
    """LIBLINEAR minimises −D of each problem and prints six decimals; the sixth is rounded against it."""
    return [-float(value) - 5e-7 for value in re.findall(r"Objective value = (\S+)", text)]


LINEAR: dict[str, Contender] = {
    contender.name: contender for contender in (ScikitLearn(), Liblinear(), MulticoreLiblinear(), SnapML(), ReHLine())
}
