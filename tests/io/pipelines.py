"""Small fitted pipelines with every step that a model file keeps, and raw samples for them."""

import warnings
from functools import cache

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, chi2
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from maxmargin import SVC, LeaveOneOutSearch, LinearSVC
from tests.io.models import samples

UNITS = np.array([1.0, 100.0, 0.01])
LABELS = samples(2)[1]


def numbers():
    """Features in units far apart."""
    return samples(2)[0] * UNITS


def holes():
    """Numbers, some of them missing."""
    X = numbers()
    X[::5, 0] = X[1::7, 2] = np.nan
    return X


def counts():
    """Whole numbers as categories."""
    return np.abs(np.round(samples(2)[0]))


def words():
    """Texts as categories."""
    kinds = np.array(["ab", "cd", "größer"], dtype=object)
    return kinds[(counts() % 3).astype(int)]


def texts():
    """Short documents."""
    names = np.array(["ant", "bee", "cat", "dog", "Öl", "eel"])
    rng = np.random.default_rng(0)
    return [" ".join([*rng.choice(names, 5), "yes" if label else "no"]) for label in LABELS]


def table():
    """Numbers with holes, a category with holes, and a text, in rows of Python objects."""
    kinds = words()[:, 0]
    kinds[::6] = np.nan
    return np.array([[*row, kind, text] for row, kind, text in zip(holes(), kinds, texts(), strict=True)], dtype=object)


def _numeric():
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler())


def _columns():
    kinds = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder())
    steps = [("numbers", _numeric(), [0, 1]), ("kinds", kinds, slice(3, 4)), ("texts", TfidfVectorizer(), 4)]
    return ColumnTransformer(steps, remainder=make_pipeline(SimpleImputer(add_indicator=False), RobustScaler()))


MAKERS = {
    "standard": (numbers, lambda: StandardScaler()),
    "standard_no_mean": (numbers, lambda: StandardScaler(with_mean=False)),
    "standard_no_std": (numbers, lambda: StandardScaler(with_std=False)),
    "standard_nothing": (numbers, lambda: StandardScaler(with_mean=False, with_std=False)),
    "standard_float32": (lambda: numbers().astype(np.float32), lambda: StandardScaler()),
    "standard_holes": (holes, lambda: make_pipeline(StandardScaler(), SimpleImputer())),
    "minmax": (numbers, lambda: MinMaxScaler((-1, 1), clip=True)),
    "minmax_float32": (lambda: numbers().astype(np.float32), lambda: MinMaxScaler()),
    "maxabs": (numbers, lambda: MaxAbsScaler()),
    "robust": (numbers, lambda: RobustScaler(quantile_range=(10.0, 90.0))),
    "robust_no_center": (numbers, lambda: RobustScaler(with_centering=False)),
    "robust_no_scale": (numbers, lambda: RobustScaler(with_scaling=False)),
    "normalizer": (numbers, lambda: Normalizer("l1")),
    "binarizer": (numbers, lambda: Binarizer(threshold=0.5)),
    "quantiles": (numbers, lambda: QuantileTransformer(n_quantiles=9, output_distribution="normal")),
    "one_hot": (words, lambda: OneHotEncoder(drop="if_binary")),
    "one_hot_numbers": (counts, lambda: OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)),
    "one_hot_named": (words, lambda: OneHotEncoder(categories=[["ab", "cd", "größer", "zz"]] * 3, drop=["ab", "cd", "zz"])),
    "ordinal": (words, lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)),
    "imputer": (holes, lambda: SimpleImputer()),
    "imputer_constant": (holes, lambda: SimpleImputer(strategy="constant", fill_value=2.5)),
    "imputer_number": (counts, lambda: SimpleImputer(missing_values=0.0, strategy="most_frequent")),
    "pca": (numbers, lambda: PCA(2, whiten=True)),
    "svd": (numbers, lambda: TruncatedSVD(2, random_state=0)),
    "variance": (numbers, lambda: VarianceThreshold(0.01)),
    "best": (numbers, lambda: SelectKBest(k=2)),
    "words": (texts, lambda: CountVectorizer(ngram_range=(1, 2), stop_words=["no"], min_df=2)),
    "words_named": (texts, lambda: CountVectorizer(vocabulary=["yes", "no", "bee"], dtype=np.float32)),
    "tfidf": (texts, lambda: TfidfVectorizer(sublinear_tf=True, strip_accents="unicode", token_pattern=r"\b\w+\b")),
    "tfidf_letters": (texts, lambda: TfidfVectorizer(use_idf=False, analyzer="char_wb", ngram_range=(2, 3))),
    "tfidf_steps": (texts, lambda: make_pipeline(CountVectorizer(), TfidfTransformer(), SelectPercentile(chi2, percentile=50))),
    "tfidf_no_idf": (texts, lambda: make_pipeline(CountVectorizer(), TfidfTransformer(use_idf=False))),
    "hashing": (texts, lambda: HashingVectorizer(n_features=32)),
    "identity": (numbers, lambda: FunctionTransformer(validate=True)),
    "passthrough": (numbers, lambda: "passthrough"),
    "union": (numbers, lambda: make_union(StandardScaler(), PCA(2), "passthrough")),
    "nested": (holes, lambda: make_pipeline(_numeric(), make_pipeline("passthrough", PCA(2)))),
    "columns": (table, _columns),
    "columns_some": (numbers, lambda: ColumnTransformer([("a", MinMaxScaler(), [2, 0]), ("b", "drop", []), ("c", "drop", [1])])),
}  # fmt: skip
WHOLE = {
    "alone": lambda: Pipeline([("model", SVC())]),
    "model_nested": lambda: make_pipeline(StandardScaler(), make_pipeline(PCA(2), SVC())),
    "search": lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 10]}, cv=3),
    "search_inside": lambda: make_pipeline(StandardScaler(), GridSearchCV(SVC(), {"C": [1, 10]}, cv=3)),
    "search_alone": lambda: GridSearchCV(SVC(), {"C": [1, 10]}, cv=3),
    "search_ours": lambda: LeaveOneOutSearch(SVC(), [1.0, 10.0]),
}
NAMES = [*MAKERS, *WHOLE]


def rows(name):
    """Raw samples of a pipeline."""
    return MAKERS[name][0]() if name in MAKERS else numbers()


@cache
def pipeline(name):
    """A fitted pipeline, the same each time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of quantiles of few samples
        if name in WHOLE:
            return WHOLE[name]().fit(numbers(), LABELS)
        model = LinearSVC() if MAKERS[name][0] is texts else SVC()
        return make_pipeline(MAKERS[name][1](), model).fit(rows(name), LABELS)
