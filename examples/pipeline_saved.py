"""
A pipeline, saved and loaded
============================

A scaler and a machine belong together. `save` writes both into one file that
contains data and no code, `load` brings them back, and the loaded pipeline
takes raw samples. The decision values are the same to the last bit, so all
points lie on the diagonal.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, load, save

data = load_breast_cancer()
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(
    data.data, y, random_state=0, stratify=y
)
model = make_pipeline(StandardScaler(), SVC(C=2.0)).fit(X_train, y_train)

with TemporaryDirectory() as folder:
    path = Path(folder) / "tumours.maxmargin"
    save(model, path)
    print(f"{path.stat().st_size / 1024:.0f} KB")
    again = load(path)

before, after = model.decision_function(X_test), again.decision_function(X_test)
print("the same to the last bit:", bool((before == after).all()))
print(
    f"accuracy on data that it has not seen: {again.score(X_test, y_test):.1%}"
)

figure, ax = plt.subplots(figsize=(5.4, 4.6), layout="constrained")
for name, marker, colour in (
    ("malignant", "s", "#E69F00"),
    ("benign", "o", "#0072B2"),
):
    mine = y_test == name
    ax.scatter(
        before[mine],
        after[mine],
        marker=marker,
        color=colour,
        s=26,
        alpha=0.7,
        label=name,
    )
ax.axline((0, 0), slope=1, color="black", lw=0.8, zorder=0)
ax.set(xlabel="F before saving", ylabel="F after loading", aspect="equal")
ax.legend()
plt.show()
