"""
Text: which words decide?
=========================

TF-IDF turns each text into a long sparse row, and a linear machine gives
every word a vote. Positive votes are for sport, negative ones for money. The
longest bars are the words that decide. The label of a new text is the sign of
the sum of its words' votes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from maxmargin import LinearSVC

SPORT = [
    "the striker scored twice in the second half",
    "the keeper saved a late penalty in the final",
    "a draw after extra time and penalties",
    "the coach praised the young defence after the match",
    "the team won the match with a late goal",
    "an early goal decided the final",
    "the striker missed the match with an injury",
    "fans cheered as the team scored a third goal",
]
MONEY = [
    "the bank raised its interest rate again",
    "shares fell after the quarterly report",
    "the central bank fears inflation",
    "investors sold bonds and bought shares",
    "the market rose as inflation slowed",
    "profits of the bank fell in the third quarter",
    "bonds gained after the interest rate decision",
    "investors expect higher profits and a calm market",
]

model = make_pipeline(TfidfVectorizer(stop_words="english"), LinearSVC(C=1.0))
model.fit(SPORT + MONEY, ["sport"] * 8 + ["money"] * 8)
for text in ("the bank sold its shares", "a late goal in extra time"):
    print(f"{model.predict([text])[0]}: {text}")

words, votes = model[0].get_feature_names_out(), model[1].coef_[0]
order = votes.argsort()
chosen = np.r_[order[:8], order[-8:]]
figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
ax.barh(
    words[chosen],
    votes[chosen],
    color=np.where(votes[chosen] > 0, "#0072B2", "#E69F00"),
)
ax.axvline(0.0, color="black", lw=0.8)
ax.set(xlabel="← money      vote of a word      sport →")
ax.tick_params(axis="y", labelsize=9)
plt.show()
