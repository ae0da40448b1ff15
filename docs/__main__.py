"""Build the site: ``python -m docs [FOLDER]`` from the project's root.

Every page is read anew, every example runs, every warning is an error.
"""

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main

HERE = Path(__file__).parent
GALLERY = HERE / "gallery"  # made by Sphinx-Gallery from examples/
SITE = HERE.parent / "build" / "docs"

if __name__ == "__main__":
    shutil.rmtree(GALLERY, ignore_errors=True)  # pages of examples that are gone
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    code = main(["-q", "-E", "-W", "--keep-going", "-b", "html", str(HERE), str(folder)])
    if code == 0:
        sys.stdout.write(f"{folder / 'index.html'}\n")
    sys.exit(code)
