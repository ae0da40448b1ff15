"""
The L1 path: which features come first?
=======================================

The L1 penalty keeps only the features that it needs. As C grows, more of them
get a weight. Their order says which ones matter most for telling benign from
malignant tumours. The path begins at the smallest C at which any feature has
a weight, and each model has its certificate.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from maxmargin import l1_path, plot

data = load_breast_cancer()
path = l1_path(scale(data.data), data.target, Cs=25)
print(
    "worst gap on the path:",
    f"{max(certificate.relative_gap for certificate in path.certificates):.1e}",
)

plot.L1PathDisplay.from_path(path, feature_names=data.feature_names)
plt.show()
