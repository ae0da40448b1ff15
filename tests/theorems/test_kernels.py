"""What the texts state about inner products and kernels."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from maxmargin import SVC, LinearSVC
from maxmargin.kernels import RBF, FeatureMap, Polynomial
from tests.strategies import examples

vectors = st.lists(st.integers(-9, 9), min_size=3, max_size=3)


@examples(200)
@given(vectors, vectors)
def test_an_inner_product_lies_between_plus_and_minus_the_product_of_the_lengths(u, v):
    # [UNC]: a signed measure of similarity, in integers: ⟨u, v⟩² ≤ ‖u‖²‖v‖², with equality exactly along one line
    product = sum(a * b for a, b in zip(u, v, strict=True))
    squares = sum(a * a for a in u) * sum(b * b for b in v)
    cross = [u[i] * v[j] - u[j] * v[i] for i in range(3) for j in range(i)]
    assert product**2 <= squares
    assert (product**2 == squares) == (not any(cross))
    assert squares - product**2 == sum(c * c for c in cross)  # Lagrange's identity: by how much


@pytest.mark.parametrize("kernel", [RBF(0.7), Polynomial(3, gamma=1.0, coef0=1.0)], ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_every_positive_semidefinite_matrix_is_a_matrix_of_inner_products(kernel, seed):
    # [UNC]: K(u, v) = ⟨γ(u), γ(v)⟩ for some γ. For n points γ(x_i) may be row i of V√Λ; the machine on these rows is the same one
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((14, 3)), np.tile([1, -1], 7)
    K = kernel.block(X, X)
    values, V = np.linalg.eigh(K)
    assert values.min() >= -1e-12 * values.max()
    features = V * np.sqrt(np.maximum(values, 0.0))
    np.testing.assert_allclose(features @ features.T, K, atol=1e-10 * values.max())
    ours = SVC(kernel=kernel, C=2.0, tol=1e-10).fit(X, y)
    theirs = LinearSVC(C=2.0, tol=1e-10).fit(features, y)
    assert ours.certificate_.primal == pytest.approx(theirs.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(features), atol=1e-4)


TEXTS = ["a rose is a rose is a rose", "the vote was close", "a close game", "the rose was a gift", "the game is the game"]
LABELS = [1, -1, -1, 1, -1]


def test_counting_words_is_a_feature_map_like_any_other():
    # [UNC], example 2: ⟨γ(x), γ(x')⟩ is a sum over the words that both have
    bag = CountVectorizer(token_pattern=r"\w+").fit(TEXTS)
    counts = [Counter(text.split()) for text in TEXTS]
    by_hand = [[sum(n * other[word] for word, n in one.items()) for other in counts] for one in counts]
    rows = bag.transform(TEXTS).toarray().astype(float)
    np.testing.assert_array_equal(rows @ rows.T, by_hand)
    of_counts = LinearSVC(C=0.3, tol=1e-10).fit(rows, LABELS)
    of_products = SVC(kernel="precomputed", C=0.3, tol=1e-10).fit(np.array(by_hand, float), LABELS)
    np.testing.assert_allclose(
        of_counts.decision_function(rows), of_products.decision_function(np.array(by_hand, float)), atol=1e-6
    )


@pytest.mark.parametrize(("p", "degree"), [(2, 2), (3, 2), (2, 3)])
def test_a_polynomial_kernel_needs_fewer_products_than_its_features(p, degree):
    # (1 + ⟨u, v⟩)^degree has one feature for each product of at most `degree` coordinates, weighed by multinomial coefficients
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (6, p)).astype(float)
    powers = [k for k in np.ndindex(*(degree + 1,) * p) if sum(k) <= degree]
    weights = [math.factorial(degree) / math.prod(map(math.factorial, (*k, degree - sum(k)))) for k in powers]

    def features(rows):
        return np.stack(
            [math.sqrt(w) * np.prod(rows ** np.array(k), axis=1) for k, w in zip(powers, weights, strict=True)], axis=1
        )

    assert len(powers) == math.comb(p + degree, degree) > p
    direct = Polynomial(degree, gamma=1.0, coef0=1.0).block(X, X)
    np.testing.assert_allclose(FeatureMap(features).block(X, X), direct, rtol=1e-12, atol=1e-9)
