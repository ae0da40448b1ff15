"""Regression, one class alone, and ν: the machines of scikit-learn's `svm` beside its classifiers with a C."""
