"""Model files and data files: what comes from a file is data, checked before it is used.

========================  =======================================================
`save`, `load`            model files; `load` reads LIBSVM's and SVM-light's, too
`export`                  models for LIBSVM, SVM-light, ONNX
`read_data`               samples and labels: svmlight, CSV, Parquet, npz
========================  =======================================================
"""

from maxmargin.io._data.files import read_data
from maxmargin.io._data.tables import Data
from maxmargin.io._model_files import FORMATS, export, load, save

__all__ = ["Data", "FORMATS", "export", "load", "read_data", "save"]
