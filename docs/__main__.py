"""Build the site: ``python -m docs [FOLDER]`` from the project's root. Every page is read anew, every warning is an error."""

import sys
from pathlib import Path

from sphinx.cmd.build import main

HERE = Path(__file__).parent
SITE = HERE.parent / "build" / "docs"

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    code = main(["-q", "-E", "-W", "--keep-going", "-b", "html", str(HERE), str(folder)])
    if code == 0:
        sys.stdout.write(f"{folder / 'index.html'}\n")
    sys.exit(code)
