"""Draw the picture of lab.md: ``python docs/draw_lab.py``. Needs the extra "lab", Chromium, and Playwright for Python."""

import shutil
import threading
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from maxmargin.lab import Lab

PLACE = Path(__file__).parent / "lab.png"
SIZE = {"width": 1240, "height": 900}
DONE = "() => (({ asked, idle }) => asked && asked === idle)(document.getElementById('status').dataset)"


def main() -> None:
    """The moons, and one of their support vectors left out."""
    lab = Lab()
    threading.Thread(target=lab.run, daemon=True).start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        page.goto(lab.address)
        page.wait_for_function(DONE)
        page.select_option("#preset", label="Moons")
        page.wait_for_function(DONE)
        page.locator("#points .point:has(.ring.on)").first.locator(".hit").click()
        page.click("#leave-out")
        page.wait_for_function(DONE)
        shot = Image.open(BytesIO(page.screenshot()))
    lab.stop()
    shot.convert("RGB").resize((930, 675), Image.Resampling.LANCZOS).quantize(128).save(PLACE, optimize=True)


if __name__ == "__main__":
    main()
