"""
Files of LIBSVM
===============

`read_data` reads LIBSVM's data files, dense or sparse, and `export` writes a
model that ``svm-predict`` understands. The picture shows which entries of the
sparse samples are stored. The table behind it is never made dense.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import dump_svmlight_file, load_digits

from maxmargin import SVC, export, load
from maxmargin.io import read_data

digits, labels = load_digits(n_class=2, return_X_y=True)
with TemporaryDirectory() as name:
    folder = Path(name)
    dump_svmlight_file(
        digits, labels, str(folder / "digits.svm"), zero_based=False
    )
    print((folder / "digits.svm").read_text().partition("\n")[0][:70], "…")
    data = read_data(folder / "digits.svm")
    model = SVC(C=1.0).fit(data.X, data.y)
    export(model, folder / "digits.libsvm")
    print(
        "".join(
            (folder / "digits.libsvm").read_text().splitlines(keepends=True)[:8]
        )
    )
    again = load(folder / "digits.libsvm")
print(
    "the same labels:",
    bool(np.array_equal(again.predict(data.X), model.predict(data.X))),
)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.spy(data.X[:40], markersize=4, color="#0072B2", aspect="auto")
ax.set(
    xlabel="pixel",
    ylabel="sample",
    title=f"stored entries: {data.X.nnz / np.prod(data.X.shape):.0%} of all",
)
ax.xaxis.tick_bottom()
plt.show()
