"""Sphinx's settings. ``python -m docs`` builds the site; it asks no network, neither when built nor when read."""

import sys
from pathlib import Path

import maxmargin

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]  # our extensions; benchmarks/, whose results become tables

project = "maxmargin"
author = "the maxmargin authors"
copyright = author
version = release = maxmargin.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "docstrings",
    "typography",
    "benchmark_tables",
    "concordance_tables",
    "notebooks",
]
exclude_patterns = ["_build"]

# Pages: Markdown, `$…$` for formulas, links to headings, `:::` for cards.
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# The API reference: numpydoc docstrings.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False
add_module_names = False
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"

# The gallery: every example is run, and what it draws and prints becomes its page. examples/index.rst groups them.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "backreferences_dir": "gallery/_uses",
    "doc_module": ("maxmargin",),
    "run_stale_examples": True,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "thumbnail_size": (480, 336),
    "copyfile_regex": r"index\.rst",
}

# The look.
html_theme = "furo"
html_title = "maxmargin"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_exclude = ".linenos, .gp, .go"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5fa5", "color-brand-content": "#0b5fa5"},
    "dark_css_variables": {"color-brand-primary": "#6cb6ff", "color-brand-content": "#6cb6ff"},
}
