"""The commands of docs/command_line.md do what the page says."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "command_line.md"


def commands():
    """Each command of the page with the exit code that it tells, and the first line that it shows, in order."""
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = piece.partition("\n")
            command, _, code = line.partition("    # exit code ")
            yield command, int(code or 0), shown.partition("\n")[0]


@pytest.mark.skipif(not PAGE.is_file(), reason="installed without its docs")
def test_the_examples_run_as_shown(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    source = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    exec(compile(source, str(PAGE), "exec"), {})
    found = [one for one in commands() if one[0].startswith("maxmargin ")]
    assert len(found) >= 10
    for command, code, first in found:
        done = call(*shlex.split(command)[1:], code=code)
        said = (done.out + done.err).splitlines()
        start = re.sub(r"[0-9.]+ s$", "", first)  # the seconds are others here
        assert any(line.startswith(start) for line in said) or not first, (command, said)
