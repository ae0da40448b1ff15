"""Text as bags of words: the feature map, and its kernel.

A sentence is a sequence of words. Φ counts how often each word occurs and forgets the order; the kernel ⟨Φ(u), Φ(v)⟩
counts the pairs of equal words. Both ways to compute it give the same numbers: the linear kernel on counted words, and
a FeatureMap that counts them on the way.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from maxmargin.kernels import FeatureMap, Linear

SENTENCES = [
    "the cat sat on the mat",
    "the dog sat on the cat",
    "stocks fell and bonds rose",
    "bonds rose and the market fell",
]


def number_words(sentences, vectorizer):
    """Each sentence as the row of its words' numbers, filled up with −1: no counting yet."""
    analyze = vectorizer.build_analyzer()
    numbers = [[vectorizer.vocabulary_[word] for word in analyze(sentence)] for sentence in sentences]
    rows = np.full((len(numbers), max(map(len, numbers))), -1.0)
    for row, words in zip(rows, numbers, strict=True):
        row[: len(words)] = words
    return rows


def count_words(n_words):
    """Return the feature map Φ: from rows of word numbers to CSR rows of counts."""

    def phi(X):
        row, position = np.nonzero(X >= 0)
        word = X[row, position].astype(int)
        return sp.csr_array((np.ones(row.size), (row, word)), shape=(X.shape[0], n_words))

    return phi


def main():
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(SENTENCES).astype(float)
    on_counts = Linear().block(counts, counts)

    words = number_words(SENTENCES, vectorizer)
    kernel = FeatureMap(count_words(len(vectorizer.vocabulary_)))
    on_sequences = kernel.block(words, words)

    print(f"{len(SENTENCES)} sentences, {counts.shape[1]} different words, {counts.nnz} counts stored")
    print("pairs of equal words in two sentences, ⟨Φ(u), Φ(v)⟩:\n")
    for sentence, row in zip(SENTENCES, on_sequences, strict=True):
        print(f"  {sentence:<32}" + "".join(f"{value:4.0f}" for value in row))
    print("\nthe linear kernel on the counts is the same:", np.array_equal(on_counts, on_sequences))
    print(kernel.is_positive_semidefinite(words))


if __name__ == "__main__":
    main()
