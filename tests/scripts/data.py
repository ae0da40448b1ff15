"""Scripts about data: text, images, tables, strings, sparse matrices, weights, kernels. Each returns its scores."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_circles, make_classification
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.metrics.pairwise import chi2_kernel, rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import LabelEncoder, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler

PLANTS = ["root", "leaf", "stem", "flower", "seed", "green", "grow", "soil", "sun", "petal"]
STARS = ["orbit", "moon", "light", "comet", "night", "dark", "star", "sun", "planet", "ring"]


def texts(n=120):
    """Lines of words about plants or stars, some of them mixed, and which they are."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    shares = np.where(y == 1, 0.75, 0.25)
    lines = [" ".join(rng.choice(STARS if rng.random() < share else PLANTS) for _ in range(8)) for share in shares]
    return lines, np.where(y == 1, "stars", "plants")


def table(n=200):
    """A data frame with numbers, categories and gaps."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"age": rng.uniform(20, 70, n), "income": rng.lognormal(10, 0.5, n), "town": rng.choice(["A", "B", "C"], n)}
    )
    y = (frame.age / 50 + (frame.town == "A") + 0.3 * rng.standard_normal(n) > 1.3).astype(int)
    frame.loc[::10, "income"] = np.nan
    return frame, y


def halves(X, y):
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def tfidf_and_a_linear_machine(svm):
    X, X_new, y, y_new = halves(*texts())
    return make_pipeline(TfidfVectorizer(), svm.LinearSVC()).fit(X, y).score(X_new, y_new)


def counts_of_word_pairs(svm):
    X, X_new, y, y_new = halves(*texts())
    return make_pipeline(CountVectorizer(ngram_range=(1, 2)), svm.SVC(kernel="linear", C=0.1)).fit(X, y).score(X_new, y_new)


def hashed_words_with_the_dual_chosen_by_hand(svm):
    X, X_new, y, y_new = halves(*texts())
    model = make_pipeline(HashingVectorizer(n_features=256), svm.LinearSVC(dual=True, random_state=0, max_iter=5000))
    return model.fit(X, y).score(X_new, y_new)


def words_and_letters_together(svm):
    X, X_new, y, y_new = halves(*texts())
    features = FeatureUnion([("words", TfidfVectorizer()), ("letters", TfidfVectorizer(analyzer="char", ngram_range=(2, 3)))])
    return make_pipeline(features, svm.LinearSVC(C=0.5)).fit(X, y).score(X_new, y_new)


def the_most_telling_words(svm):
    lines, y = texts()
    words = TfidfVectorizer()
    model = svm.LinearSVC().fit(words.fit_transform(lines), y)
    most = words.get_feature_names_out()[np.argsort(model.coef_[0])[-5:]]
    return len(set(most) & set(STARS)) / 5


def digits_as_images(svm):
    images = load_digits()
    X = images.images.reshape(len(images.images), -1)[:600]
    X, X_new, y, y_new = halves(X, images.target[:600])
    return svm.SVC(gamma=0.001).fit(X, y).score(X_new, y_new)


def digits_by_principal_components(svm):
    X, X_new, y, y_new = halves(*(part[:400] for part in load_digits(return_X_y=True)))
    return make_pipeline(PCA(20, random_state=0), svm.SVC(C=10)).fit(X, y).score(X_new, y_new)


def digits_in_float32(svm):
    X, X_new, y, y_new = halves(*(part[:400] for part in load_digits(return_X_y=True)))
    model = svm.SVC(kernel="poly", degree=2).fit(X.astype(np.float32), y)
    return model.score(X_new.astype(np.float32), y_new)


def a_table_with_columns_of_two_kinds(svm):
    X, X_new, y, y_new = halves(*table())
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("numbers", numbers, ["age", "income"]), ("towns", OneHotEncoder(), ["town"])])
    return make_pipeline(columns, svm.SVC()).fit(X, y).score(X_new, y_new)


def a_table_in_and_a_table_between(svm):
    X, X_new, y, y_new = halves(*table())
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["town"]), (MinMaxScaler(), ["age"]))
    model = make_pipeline(columns, svm.SVC(kernel="linear")).set_output(transform="pandas").fit(X, y)
    assert list(model[-1].feature_names_in_) == list(model[:-1].get_feature_names_out())
    return model.score(X_new, y_new)


def labels_that_are_encoded(svm):
    X, y = load_wine(return_X_y=True)
    encoder = LabelEncoder().fit(["barolo", "grignolino", "barbera"])
    model = make_pipeline(StandardScaler(), svm.LinearSVC()).fit(X, encoder.inverse_transform(y))
    return np.mean(encoder.transform(model.predict(X)) == y)


def labels_of_booleans(svm):
    X, y = load_breast_cancer(return_X_y=True)
    return make_pipeline(StandardScaler(), svm.SVC()).fit(X[::2], y[::2] == 0).score(X[1::2], y[1::2] == 0)


def sparse_rows_of_each_format(svm):
    X, X_new, y, y_new = halves(*make_classification(200, 30, random_state=0))
    kinds = (sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix)
    return [svm.LinearSVC(C=0.1).fit(kind(X), y).score(kind(X_new), y_new) for kind in kinds]


def rare_classes_weighted(svm):
    X, X_new, y, y_new = halves(*make_classification(300, 8, weights=[0.9], class_sep=0.7, random_state=2))
    model = svm.SVC(class_weight="balanced").fit(X, y)
    f = model.decision_function(X_new)
    return balanced_accuracy_score(y_new, model.predict(X_new)), roc_auc_score(y_new, f), f1_score(y_new, f > 0)


def classes_weighted_by_hand(svm):
    X, y = load_iris(return_X_y=True)
    return svm.SVC(kernel="linear", class_weight={0: 1, 1: 5, 2: 1}).fit(X, y).score(X, y)


def samples_with_weights(svm):
    X, y = make_classification(200, 5, flip_y=0.2, random_state=3)
    weights = np.where(y == 1, 2.0, 0.5)
    return [model.fit(X, y, sample_weight=weights).score(X, y, weights) for model in (svm.SVC(gamma="auto"), svm.LinearSVC())]


def a_gram_matrix(svm):
    X, X_new, y, y_new = halves(*load_wine(return_X_y=True))
    scale = MinMaxScaler(clip=True).fit(X)
    X, X_new = scale.transform(X), scale.transform(X_new)
    return svm.SVC(kernel="precomputed").fit(chi2_kernel(X), y).score(chi2_kernel(X_new, X), y_new)


def a_kernel_of_my_own(svm):
    X, X_new, y, y_new = halves(*make_circles(160, noise=0.1, factor=0.4, random_state=0))
    return svm.SVC(kernel=lambda A, B: rbf_kernel(A, B, gamma=2.0)).fit(X, y).score(X_new, y_new)


def a_kernel_on_strings(svm):
    words = [a + b + c for a in "ab" for b in "abc" for c in "abcd"]
    y = np.array([word.count("a") > word.count("b") for word in words])

    def letters(A, B):
        return np.array([[sum(a.count(c) * b.count(c) for c in "abcd") for b in B] for a in A], dtype=float)

    model = svm.SVC(kernel=letters).fit(words, y)
    return model.score(words, y)


def a_map_near_the_kernel(svm):
    X, X_new, y, y_new = halves(*make_circles(200, noise=0.1, factor=0.4, random_state=0))
    maps = (Nystroem(gamma=1.0, n_components=30, random_state=0), RBFSampler(gamma=1.0, n_components=200, random_state=0))
    return [make_pipeline(each, svm.LinearSVC()).fit(X, y).score(X_new, y_new) for each in maps]


def products_of_features(svm):
    X, X_new, y, y_new = halves(*make_circles(160, noise=0.1, factor=0.4, random_state=0))
    return make_pipeline(PolynomialFeatures(2), StandardScaler(), svm.LinearSVC(C=10)).fit(X, y).score(X_new, y_new)
