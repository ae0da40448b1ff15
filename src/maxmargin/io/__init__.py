"""Model files and data files."""
from maxmargin.io._model_file import save, read_model
