"""The report in a real browser: nothing is refused, nothing is asked of the network, every view has content."""

import shutil
import subprocess

import numpy as np
import pytest

from maxmargin import report
from tests.html_report.pages import MODELS

CHROMIUM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is missing: THE REPORT WAS NOT LOOKED AT IN A BROWSER"),
    pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning"),
]
SHOWN = ("iris, three classes", "breast cancer, linear", "texts, sparse", "hard margin, two features", "perceptron")


def browse(folder, page, *options):
    """Open a page without a screen; standard output, and what the page's console said."""
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-extensions",
        "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}", *options, page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def picture(path):
    return np.asarray(pytest.importorskip("PIL.Image").open(path).convert("L"), dtype=float)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def pages(folder):
    found = {}
    for k, name in enumerate(SHOWN):
        model, data = MODELS[name]
        X, y = data()
        found[name] = report(model.fit(X, y), X, y, folder / f"page{k}.html")
    return found


@pytest.mark.parametrize("name", SHOWN)
def test_the_console_stays_silent_and_the_page_has_content(name, pages, folder):
    shot = folder / f"{pages[name].stem}.png"
    _, console = browse(folder, pages[name], "--window-size=900,3000", f"--screenshot={shot}")
    assert console == []
    grey = picture(shot)
    assert np.median(grey) > 240  # light paper
    assert 0.01 < (grey < 128).mean() < 0.3


def test_the_console_would_tell(folder):
    page = folder / "bad.html"
    policy = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"
    page.write_text(f"<!DOCTYPE html>{policy}<img src='http://example.org/x.png'>", encoding="utf-8")
    _, console = browse(folder, page, f"--screenshot={folder / 'bad.png'}")
    assert any("Content Security Policy" in line for line in console)


def test_the_dark_page_is_dark_and_has_content(pages, folder):
    shot = folder / "dark.png"
    browse(folder, pages[SHOWN[0]], "--force-dark-mode", "--window-size=900,3000", f"--screenshot={shot}")
    grey = picture(shot)
    assert np.median(grey) < 60
    assert 0.01 < (grey > 128).mean() < 0.3


@pytest.mark.parametrize("name", SHOWN[:2])
def test_a_narrow_page_does_not_scroll_sideways(name, pages, folder):
    copy = folder / "narrow.html"
    html = pages[name].read_text(encoding="utf-8")
    policy = html[html.index("<meta http-equiv") : html.index("<title>")]
    script = "<script>document.title = innerWidth + ' ' + document.documentElement.scrollWidth</script></body>"
    copy.write_text(html.replace(policy, "").replace("</body>", script), encoding="utf-8")
    dom, _ = browse(folder, copy, "--window-size=500,900", "--dump-dom")
    inner, wide = map(int, dom[dom.index("<title>") + 7 : dom.index("</title>")].split())
    assert wide <= inner


def test_it_prints_on_several_pages(pages, folder):
    paper = folder / "page.pdf"
    browse(folder, pages[SHOWN[0]], f"--print-to-pdf={paper}")
    assert paper.read_bytes().count(b"/Type /Page\n") > 1
