"""
A bag of words as a kernel
==========================

A sentence is a sequence of words. Φ counts how often each word occurs and
forgets the order. The kernel ⟨Φ(u), Φ(v)⟩ counts the pairs of equal words in
two sentences. Both ways to compute it give the same numbers: the linear
kernel on counted words, and a `FeatureMap` that counts them on the way.
"""

import matplotlib.pyplot as plt
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
    """A row of word numbers for each sentence, filled up with −1."""
    analyze = vectorizer.build_analyzer()
    numbers = [
        [vectorizer.vocabulary_[word] for word in analyze(sentence)]
        for sentence in sentences
    ]
    rows = np.full((len(numbers), max(map(len, numbers))), -1.0)
    for row, words in zip(rows, numbers, strict=True):
        row[: len(words)] = words
    return rows


def count_words(n_words):
    """Return Φ: from rows of word numbers to CSR rows of counts."""

    def phi(X):
        row, position = np.nonzero(X >= 0)
        word = X[row, position].astype(int)
        return sp.csr_array(
            (np.ones(row.size), (row, word)), shape=(X.shape[0], n_words)
        )

    return phi


vectorizer = CountVectorizer()
counts = vectorizer.fit_transform(SENTENCES).astype(float)
on_counts = Linear().block(counts, counts)

words = number_words(SENTENCES, vectorizer)
kernel = FeatureMap(count_words(len(vectorizer.vocabulary_)))
on_sequences = kernel.block(words, words)

print(f"{counts.shape[1]} different words, {counts.nnz} counts stored")
print(
    "the linear kernel on the counts is the same:",
    np.array_equal(on_counts, on_sequences),
)
print(kernel.is_positive_semidefinite(words))

figure, ax = plt.subplots(figsize=(7.4, 4.0), layout="constrained")
ax.imshow(on_sequences, cmap="Blues", vmax=14)
for (row, column), value in np.ndenumerate(on_sequences):
    ax.text(column, row, f"{value:.0f}", ha="center", va="center")
ax.set_xticks(
    range(4),
    [sentence.replace(" ", "\n") for sentence in SENTENCES],
    fontsize=8,
)
ax.set_yticks(range(4), SENTENCES, fontsize=9)
ax.set_title("pairs of equal words", fontsize=11)
plt.show()
