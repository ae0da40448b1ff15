"""Scripts about tools that take an estimator: searches, scores, ensembles, calibration, many labels, selection, files."""

import io
import pickle
import warnings

import joblib
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification, make_multilabel_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SequentialFeatureSelector
from sklearn.inspection import DecisionBoundaryDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    classification_report,
    confusion_matrix,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler


def tumours(n=200):
    """Rows of the breast cancer data, scaled."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:n]), y[:n]


def halves(X, y):
    return train_test_split(X, y, test_size=0.5, random_state=0)


def a_grid_of_kernels(svm):
    pipeline = Pipeline([("scale", StandardScaler()), ("svm", svm.SVC())])
    grid = [
        {"svm__kernel": ["rbf"], "svm__gamma": [0.01, 0.1], "svm__C": [1, 10]},
        {"svm__kernel": ["linear"], "svm__C": [0.1, 1]},
    ]
    search = GridSearchCV(pipeline, grid, cv=3).fit(*load_wine(return_X_y=True))
    return [search.best_score_, *search.cv_results_["mean_test_score"]]


def a_search_by_chance(svm):
    search = RandomizedSearchCV(svm.LinearSVC(), {"C": loguniform(1e-3, 1e1)}, n_iter=6, cv=3, random_state=0)
    return search.fit(*tumours()).best_score_


def a_search_with_several_scores(svm):
    search = GridSearchCV(svm.SVC(), {"C": [0.1, 1.0]}, scoring=["roc_auc", "f1"], refit="f1", cv=3, n_jobs=1).fit(*tumours())
    return [*search.cv_results_["mean_test_roc_auc"], *search.cv_results_["mean_test_f1"]]


def one_search_within_another(svm):
    inner = GridSearchCV(svm.SVC(), {"C": [0.1, 1.0]}, cv=StratifiedKFold(2))
    return cross_val_score(inner, *load_iris(return_X_y=True), cv=3).mean()


def cross_validated_scores(svm):
    found = cross_validate(svm.SVC(), *tumours(), cv=4, scoring=["accuracy", "average_precision"], return_train_score=True)
    return [found[name].mean() for name in ("test_accuracy", "test_average_precision", "train_accuracy")]


def cross_validated_decisions(svm):
    X, y = tumours()
    f = cross_val_predict(svm.LinearSVC(dual="auto"), X, y, cv=4, method="decision_function")
    return roc_auc_score(y, f), average_precision_score(y, f)


def a_learning_curve(svm):
    _, train, test = learning_curve(svm.SVC(), *tumours(), train_sizes=[0.3, 0.6, 1.0], cv=3, shuffle=True, random_state=0)
    return [*train.mean(axis=1), *test.mean(axis=1)]


def a_validation_curve(svm):
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), svm.SVC())
    _, test = validation_curve(pipeline, X, y, param_name="svc__gamma", param_range=[0.001, 0.01, 0.1], cv=3)
    return test.mean(axis=1)


def calibrated_probabilities(svm):
    X, X_new, y, y_new = halves(*tumours())
    models = (CalibratedClassifierCV(svm.SVC(), ensemble=False), CalibratedClassifierCV(svm.LinearSVC(), cv=3))
    return [brier_score_loss(y_new, model.fit(X, y).predict_proba(X_new)[:, 1]) for model in models]


def votes_of_three(svm):
    X, X_new, y, y_new = halves(*tumours())
    members = [("svm", svm.SVC()), ("logistic", LogisticRegression()), ("forest", RandomForestClassifier(10, random_state=0))]
    return VotingClassifier(members).fit(X, y).score(X_new, y_new)


def one_on_top_of_two(svm):
    X, X_new, y, y_new = halves(*tumours())
    model = StackingClassifier([("linear", svm.LinearSVC()), ("rbf", svm.SVC())], final_estimator=LogisticRegression(), cv=3)
    return model.fit(X, y).score(X_new, y_new)


def a_bag_of_machines(svm):
    X, X_new, y, y_new = halves(*tumours())
    return BaggingClassifier(svm.SVC(), n_estimators=8, max_samples=0.5, random_state=0).fit(X, y).score(X_new, y_new)


def boosted_machines(svm):
    X, y = make_classification(120, 6, random_state=0)
    return AdaBoostClassifier(svm.SVC(kernel="linear"), n_estimators=5, random_state=0).fit(X, y).score(X, y)


def importance_by_permutation(svm):
    X, y = make_classification(120, 5, n_informative=2, n_redundant=0, shuffle=False, random_state=0)
    found = permutation_importance(svm.SVC().fit(X, y), X, y, n_repeats=5, random_state=0).importances_mean
    return found.sum(), found[:2].sum()


def dependence_on_one_feature(svm):
    X, y = tumours()
    model = svm.SVC().fit(X, y)
    found = partial_dependence(model, X, [0], response_method="decision_function", grid_resolution=5)
    return found["average"][0]


def a_picture_of_the_boundary(svm):
    X, y = load_iris(return_X_y=True)
    model = svm.SVC(gamma=0.7).fit(X[:, :2], y)
    axes = Figure().subplots()
    picture = DecisionBoundaryDisplay.from_estimator(model, X[:, :2], response_method="predict", grid_resolution=30, ax=axes)
    return [np.mean(picture.response == label) for label in range(3)]


def several_labels_at_once(svm):
    X, Y = make_multilabel_classification(150, 10, n_classes=3, random_state=0)
    models = (
        OneVsRestClassifier(svm.LinearSVC()),
        MultiOutputClassifier(svm.SVC()),
        ClassifierChain(svm.SVC(), order=[0, 1, 2]),
    )
    return [np.mean(model.fit(X[:100], Y[:100]).predict(X[100:]) == Y[100:]) for model in models]


def several_classes_by_wrappers(svm):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    wrappers = (OneVsOneClassifier, OneVsRestClassifier, lambda model: OutputCodeClassifier(model, random_state=0))
    return [wrap(svm.LinearSVC(C=0.1)).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) for wrap in wrappers]


def columns_of_decisions(svm):
    X, y = load_iris(return_X_y=True)
    pairs, classes = (svm.SVC(decision_function_shape=shape).fit(X, y) for shape in ("ovo", "ovr"))
    assert pairs.decision_function(X).shape == classes.decision_function(X).shape == (150, 3)
    return np.mean(classes.decision_function(X).argmax(axis=1) == y), np.mean(pairs.predict(X) == y)


def features_left_out_one_by_one(svm):
    X, X_new, y, y_new = halves(*tumours())
    return RFE(svm.SVC(kernel="linear"), n_features_to_select=5).fit(X, y).score(X_new, y_new)


def features_chosen_by_the_l1_penalty(svm):
    X, X_new, y, y_new = halves(*tumours())
    chooser = SelectFromModel(svm.LinearSVC(penalty="l1", dual=False, C=0.1, loss="squared_hinge"))
    return make_pipeline(chooser, svm.SVC()).fit(X, y).score(X_new, y_new)


def features_added_one_by_one(svm):
    X, X_new, y, y_new = halves(*load_wine(return_X_y=True))
    chooser = SequentialFeatureSelector(svm.LinearSVC(), n_features_to_select=2, cv=2)
    return make_pipeline(StandardScaler(), chooser, svm.SVC()).fit(X, y).score(X_new, y_new)


def features_filtered_first(svm):
    X, y = make_classification(150, 40, n_informative=4, random_state=0)
    return cross_val_score(make_pipeline(SelectKBest(k=8), svm.SVC()), X, y, cv=4).mean()


def a_model_kept_in_a_file(svm):
    X, y = tumours()
    file = io.BytesIO()
    joblib.dump(make_pipeline(StandardScaler(), svm.SVC(C=10)).fit(X, y), file)
    file.seek(0)
    return joblib.load(file).score(X, y), pickle.loads(pickle.dumps(svm.LinearSVC().fit(X, y))).score(X, y)


def parameters_set_later(svm):
    X, y = tumours()
    model = svm.SVC(verbose=0, shrinking=False, cache_size=100)
    copies = [clone(model).set_params(C=C, kernel="sigmoid", gamma=0.01, coef0=0.1) for C in (0.1, 1.0)]
    return [copy.fit(X, y).score(X, y) for copy in copies]


def a_report_on_each_class(svm):
    X, y = load_iris(return_X_y=True)
    labels = svm.SVC(kernel="poly", C=0.1).fit(X[::2], y[::2]).predict(X[1::2])
    report = classification_report(y[1::2], labels, output_dict=True)
    return report["accuracy"], report["macro avg"]["f1-score"], *(confusion_matrix(y[1::2], labels) / 25).ravel()


def a_score_of_my_own(svm):
    def cost(y, labels):
        return np.mean((labels != y) * np.where(y == 0, 5.0, 1.0))

    scorer = make_scorer(cost, greater_is_better=False)
    return cross_val_score(svm.LinearSVC(class_weight="balanced"), *tumours(), cv=4, scoring=scorer).mean()


def support_vectors_that_are_counted(svm):
    X, y = tumours()
    model = svm.SVC(C=1.0, tol=1e-4).fit(X, y)
    assert model.n_support_.sum() == len(model.support_) == len(model.support_vectors_) == model.dual_coef_.shape[1]
    assert set(model.support_vectors_.ravel()) <= set(X.ravel())
    return model.n_support_ / len(y)


def a_machine_on_the_margin(svm):
    X, y = make_classification(100, 2, n_redundant=0, n_clusters_per_class=1, class_sep=2.0, random_state=0)
    model = svm.SVC(kernel="linear", C=1000).fit(X, y)
    slope, offset = -model.coef_[0, 0] / model.coef_[0, 1], -model.intercept_[0] / model.coef_[0, 1]
    return np.mean((X[:, 1] > slope * X[:, 0] + offset) == model.predict(X)), 1 / np.linalg.norm(model.coef_)


def several_fits_at_once(svm):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of joblib, where a machine has few cores
        return joblib.Parallel(n_jobs=2, prefer="threads")(
            joblib.delayed(lambda C: svm.SVC(C=C).fit(*tumours()).score(*tumours()))(C) for C in (0.1, 1.0, 10.0)
        )
