"""
A matrix of similarities: words by their letters
================================================

The samples are words, not numbers. All that the machine needs is how similar
two words are: here, how many pairs of neighbouring letters they share.
``kernel="precomputed"`` takes that matrix. To predict, give the similarities
of the new words to the training words.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SVC

ENGLISH = [
    "weather",
    "through",
    "thinking",
    "bright",
    "which",
    "night",
    "should",
    "yellow",
    "house",
    "thought",
    "window",
    "something",
]
ITALIAN = [
    "finestra",
    "giallo",
    "pensiero",
    "qualcosa",
    "notte",
    "cielo",
    "dovrebbe",
    "attraverso",
    "casa",
    "tempo",
    "quale",
    "ragazzo",
]
NEW = ["thirty", "wish", "gelato", "pazzo", "white", "quattro"]


def pairs(word):
    word = f"^{word}$"
    return {word[k : k + 2] for k in range(len(word) - 1)}


def similarity(left, right):
    """Shared pairs, over the square root of the product of their numbers."""
    shared = [
        [
            len(pairs(u) & pairs(v)) / np.sqrt(len(pairs(u)) * len(pairs(v)))
            for v in right
        ]
        for u in left
    ]
    return np.array(shared)


words, y = ENGLISH + ITALIAN, np.repeat(["English", "Italian"], 12)
K = similarity(words, words)
model = SVC(kernel="precomputed", C=1.0).fit(K, y)
for word, label in zip(NEW, model.predict(similarity(NEW, words)), strict=True):
    print(f"{word:8} {label}")

figure, ax = plt.subplots(figsize=(7.6, 6.4), layout="constrained")
shown = ax.imshow(K, cmap="Blues")
ax.set_xticks(range(24), words, rotation=90, fontsize=8)
ax.set_yticks(range(24), words, fontsize=8)
figure.colorbar(shown, label="similarity", shrink=0.8)
plt.show()
