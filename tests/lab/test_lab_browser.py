"""The lab in a real browser: each control is used, and what is shown is compared with the library's own numbers."""

import re
import shutil
import statistics
from dataclasses import replace
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest

from maxmargin import SVC, HardMarginSVC, LinearSVC, Perceptron, bounds, certify, leave_one_out
from maxmargin.lab.answers import answer
from maxmargin.lab.machines import machine
from maxmargin.lab.presets import presets
from maxmargin.lab.state import HALF, State
from tests.lab.serving import running

CHROMIUM = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is missing: THE LAB WAS NOT LOOKED AT IN A BROWSER")
sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is missing: THE LAB WAS NOT LOOKED AT IN A BROWSER")

STATES = {one["name"]: State.of(one["state"]) for one in presets()}
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
"""No name is resolved: as if the network were unplugged."""

WAIT = 60_000
"""Milliseconds after which a page counts as broken; the first answer may have loops to compile."""


class Screen:
    """A page of the lab, and who asked whom for what."""

    def __init__(self, browser, lab, **how):
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **how})
        self.requests, self.complaints, self.used = [], [], set()
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT)
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.address = lab.address
        self.page.goto(lab.address)
        self.settle()

    def settle(self, idle=False):
        """Wait until what is shown is the answer to the last change; `idle`: the slow answers too."""
        name = "idle" if idle else "revision"
        self.page.wait_for_function(f"() => (s => s.asked && s.{name} === s.asked)(document.getElementById('status').dataset)")

    def at(self, name):
        self.used.add(name)
        return self.page.locator(f"#{name}")

    def text(self, name):
        return self.page.locator(f"#{name}").inner_text()

    def choose(self, name, value):
        self.at(name).select_option(value)
        self.settle()

    def preset(self, name):
        self.at("preset").select_option(label=name)
        self.settle()

    def click(self, name):
        self.at(name).click()
        self.settle()

    def slide(self, name, value):
        self.at(name).evaluate("(one, value) => { one.value = value; one.dispatchEvent(new Event('input')); }", value)
        self.settle()

    def type(self, name, text):
        self.at(name).fill(text)
        self.settle()

    def pixel(self, x, y):
        box = self.at("plot").bounding_box()
        return box["x"] + (x + HALF) / (2 * HALF) * box["width"], box["y"] + (HALF - y) / (2 * HALF) * box["height"]

    def press(self, *keys):
        for key in keys:
            self.at("plot").press(key)
        self.settle()

    def hover(self, i):
        point = self.state.points[i]
        self.page.mouse.move(*self.pixel(point.x, point.y))
        return self.text("about")

    def select(self, i):
        """By keyboard: points may lie on top of each other."""
        self.press("Escape", *["n"] * (i + 1))

    @property
    def state(self):
        """What the link holds."""
        self.settle()
        parts = dict(part.split("=") for part in self.page.locator("#link").input_value().partition("#")[2].split("&"))
        points = [point.split(",") for point in parts["p"].split(";") if point]
        return State.of(
            {
                "points": [[float(x), float(y), "ABC".index(label)] for x, y, label in points],
                "estimator": parts["e"],
                "kernel": parts["k"],
                "spelling": parts["s"],
                "value": float(parts["v"]),
                "gamma": float(parts["g"]),
                "degree": int(parts["d"]),
                "coef0": float(parts["c"]),
                "intercept": parts["b"] == "1",
            }
        )

    def drawn(self, kind):
        """The places of a kind of line, in units of the plane."""
        found = self.page.evaluate("kind => document.querySelector(`#plot .${kind}`)?.getAttribute('d') || ''", kind)
        numbers = np.array(re.findall(r"-?[\d.]+", found), dtype=float).reshape(-1, 2) / 70 - HALF
        return numbers * [1, -1]


@pytest.fixture(scope="module")
def lab():
    with running() as one:
        yield one


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as driver:
        one = driver.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield one
        one.close()


@pytest.fixture
def screen(browser, lab):
    one = Screen(browser, lab)
    yield one
    assert one.complaints == []
    assert [url for url in one.requests if not url.startswith((one.address, f"blob:http://127.0.0.1:{lab.port}/"))] == []
    one.context.close()


def shown_number(text):
    return float(text.replace("−", "-"))


def said(name, text):
    """The number after `name =` in a sentence."""
    return shown_number(re.search(rf"{name} = (−?\d+(?:\.\d+)?(?:e[−+]?\d+)?)", text)[1])


def test_the_page_shows_what_the_library_finds(screen):
    screen.preset("Moons")
    state = screen.state
    assert state == STATES["Moons"]
    model = SVC(C=10.0, gamma=1.0, tol=1e-6, max_seconds=1.0).fit(state.places, state.labels)
    proof = certify(model, state.places, state.labels)
    assert f"the objective {proof.primal:.7g} is proved" in screen.text("sentence")
    F = model.decision_function(screen.drawn("zero"))
    assert np.abs(F).max() < 0.02
    np.testing.assert_allclose(np.abs(model.decision_function(screen.drawn("edge"))), 1, atol=0.02)
    alpha, sign = np.zeros(len(state.points)), np.where(state.labels == "B", 1, -1)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    z = sign * model.decision_function(state.places)
    expected = leave_one_out(model, state.places, state.labels, resolve="once")
    screen.settle(idle=True)
    apart = [i for i in range(80) if np.sort(np.linalg.norm(state.places - state.places[i], axis=1))[1] > 0.3]
    for i in apart[:8]:
        about = screen.hover(i)
        assert about.startswith(f"Point {i} ")
        assert said("α", about) == pytest.approx(alpha[i], rel=1e-3, abs=1e-9)
        assert said("ξ", about) == pytest.approx(max(0, 1 - z[i]), rel=1e-3, abs=1e-6)
        assert said("yF", about) == pytest.approx(z[i], rel=1e-3)
        assert f"Left out it is predicted {expected.predictions[i]}" in about
        assert str(expected.settled_by[i]) in about
    rings = [screen.page.locator(f"#points .ring.{kind}").count() for kind in ("on", "inside")]
    assert rings == [proof.groups.on, proof.groups.inside]
    assert screen.page.locator("#points .wrong").count() == (model.predict(state.places) != state.labels).sum()
    assert screen.page.locator("#points .flag").count() == (expected.predictions != state.labels).sum()
    assert f"Error {100 * expected.error:.4g} %" in screen.text("left-out")
    bound = bounds.of_model(model, state.places, state.labels)["leave_one_out_support"]
    assert f"{float(bound):.3g}" in screen.text("bounds")
    cells = screen.page.locator("#problems td").all_inner_texts()
    assert shown_number(cells[1]) == pytest.approx(proof.primal, rel=1e-5)
    assert shown_number(cells[2]) == pytest.approx(proof.dual, rel=1e-5)
    assert shown_number(cells[4]) == pytest.approx(np.sqrt(model.dual_coef_ @ model.kernel_.block(*[model.support_vectors_] * 2)
                                                           @ model.dual_coef_.T).item(), rel=1e-3)  # fmt: skip
    assert screen.page.locator("#chart .dot.primal").count() > 3


def test_every_control_does_what_it_says(screen):
    use = screen
    # points: place, select, relabel, drag, delete, undo
    use.preset("Effect of C")
    assert use.state == STATES["Effect of C"]
    assert "no line separates" in use.text("preset-words")
    use.click("undo")
    assert use.state == STATES["Largest margin"]
    use.preset("Effect of C")
    for k, label in enumerate("ABC"):
        use.page.locator(f"input[name=class][value='{k}']").check()
        use.page.mouse.click(*use.pixel(-4.5 + k, 4.5))
        assert use.state.labels[-1] == label
        np.testing.assert_allclose(use.state.places[-1], [-4.5 + k, 4.5], atol=0.02)
    assert use.page.locator("#problems tr").count() == 1 + 3  # three classes, three pairs
    use.click("delete")
    assert len(use.state.points) == 82
    use.select(81)
    use.choose("label", "0")
    assert use.state.labels[81] == "A"
    use.page.mouse.move(*use.pixel(-3.5, 4.5))
    use.page.mouse.down()
    use.page.mouse.move(*use.pixel(-3.0, 3.0), steps=5)
    use.page.mouse.up()
    use.settle()
    np.testing.assert_allclose(use.state.places[81], [-3, 3], atol=0.02)
    assert use.page.locator("#compared").is_visible()
    assert len(use.drawn("ghost")) > 1
    use.click("undo")
    np.testing.assert_allclose(use.state.places[81], [-3.5, 4.5], atol=0.02)
    use.page.mouse.click(*use.pixel(-3.5, 4.5), button="right")
    use.settle()
    assert len(use.state.points) == 81
    # the machine: estimator, kernel, bias, spelling, C, γ, degree, c
    use.preset("Effect of C")
    state = STATES["Effect of C"]
    for estimator in ("squared", "ramp", "l1", "perceptron", "pegasos", "hard", "soft"):
        use.choose("estimator", estimator)
        assert use.state.estimator == estimator
        expected = answer(replace(state, estimator=estimator))
        assert (expected.get("error") or expected["sentence"])[:40] in use.text("sentence")
        assert use.page.locator("#for-value").is_visible() == (estimator not in ("hard", "perceptron"))
        assert use.page.locator("#lesson").is_visible() == (estimator in ("perceptron", "pegasos"))
        assert use.page.locator("#kernel").is_disabled() == (estimator == "l1")
    for kernel in ("sigmoid", "poly", "rbf"):
        use.choose("kernel", kernel)
        assert use.state.kernel == kernel
    use.slide("gamma", 0.5)
    assert use.state.gamma == pytest.approx(10**0.5, rel=1e-2)
    use.type("gamma-number", "0.25")
    assert use.state.gamma == 0.25
    use.choose("kernel", "poly")
    use.type("degree", "2")
    use.type("coef0", "1.5")
    assert (use.state.degree, use.state.coef0) == (2, 1.5)
    use.at("intercept").uncheck()
    use.settle()
    assert not use.state.intercept
    model = SVC(kernel="poly", degree=2, coef0=1.5, gamma=0.25, C=0.1, fit_intercept=False, tol=1e-6, max_seconds=1.0).fit(
        state.places, state.labels
    )
    assert np.abs(model.decision_function(use.drawn("zero"))).max() < 0.02
    use.at("intercept").check()
    use.choose("kernel", "linear")
    use.slide("value", 1.0)
    assert use.state.value == pytest.approx(10.0)
    use.type("value-number", "0.1")
    assert use.state.value == 0.1
    before = use.text("sentence")
    for spelling in ("mean", "tikhonov", "pegasos", "ridge"):
        use.choose("spelling", spelling)
        assert use.state.spelling == spelling
        assert use.text("letter") == ("C" if spelling == "mean" else "λ")
        assert re.search(r"objective ([\d.]+)", use.text("sentence"))[1][:6] == re.search(r"objective ([\d.]+)", before)[1][:6]
    use.type("value-number", "nonsense")
    assert use.page.locator("#value-number").evaluate("one => !one.checkValidity()")
    use.choose("spelling", "sum")
    # leave out, outside
    use.preset("Leave-one-out cases")
    cases = STATES["Leave-one-out cases"]
    i = next(i for i, one in enumerate(answer(cases)["samples"]) if one["group"] == "on")
    use.select(i)
    use.click("leave-out")
    rest = SVC(kernel="linear", tol=1e-6, max_seconds=1.0).fit(cases.without(i).places, cases.without(i).labels)
    assert f"predicts {rest.predict(cases.places[[i]])[0]} there" in use.text("compared")
    assert np.abs(rest.decision_function(use.drawn("zero"))).max() < 0.02
    whole = SVC(kernel="linear", tol=1e-6, max_seconds=1.0).fit(cases.places, cases.labels)
    assert np.abs(whole.decision_function(use.drawn("ghost"))).max() < 0.02
    use.click("leave-out")
    assert use.page.locator("#compared").is_hidden()
    use.at("outside").click()
    use.page.wait_for_function("i => document.getElementById('about').textContent.includes('α = 0,')", arg=i)
    use.settle()
    x, y = use.state.places[i]
    lines = use.drawn("zero")
    use.press("ArrowRight", "ArrowUp", "ArrowLeft")
    assert not np.array_equal(use.state.places[i], [x, y])
    assert "α before: 0, now: 0." in use.text("compared")
    assert float(use.page.locator("#compared").get_attribute("data-difference")) < 1e-4
    np.testing.assert_allclose(use.drawn("zero"), lines, atol=0.01)
    # steps
    use.preset("Perceptron")
    use.settle(idle=True)
    steps = list(Perceptron(max_iter=100, shuffle=False).steps(use.state.places, use.state.labels))
    for k, name in enumerate(("forward", "forward", "forward", "back", "forward", "first", "forward")):
        use.at(name).click()
        at = (1, 2, 3, 2, 3, 0, 1)[k]
        assert use.page.locator("#step").input_value() == str(at)
        if at:
            assert f"Visit {at}: sample {steps[at - 1].sample} has" in use.text("step-words")
            line = use.drawn("stepped")
            assert np.abs(line @ steps[at - 1].w + steps[at - 1].b).max() < 0.1 * np.abs(steps[at - 1].w).max()
    use.at("step").evaluate("one => { one.value = 5; one.dispatchEvent(new Event('input')); }")
    assert "Visit 5:" in use.text("step-words")
    assert use.page.locator("#plot .w.of-step").count() == 1
    use.at("play").click()
    use.page.wait_for_function("() => Number(document.getElementById('step').value) > 6")
    use.at("play").click()
    assert use.text("play") == "Play"
    # theme
    colours = []
    for theme in ("light", "dark", "auto"):
        use.at("theme").click()
        assert use.text("theme") == f"Theme: {theme}"
        colours.append(use.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours[0] == "rgb(255, 255, 255)" != colours[1]
    # clear
    use.click("clear")
    assert use.state.points == ()
    assert "two classes" in use.text("sentence")
    use.click("undo")
    assert use.state == STATES["Perceptron"]
    # what is taken away has a test of its own
    use.used |= {"copy-link", "save-png", "save-svg", "copy-code", "save-code", "link"}
    there = use.page.evaluate("[...document.querySelectorAll('button, select, input, #plot')].map(one => one.id).filter(Boolean)")
    assert set(there) == use.used


def test_what_is_taken_away_is_the_picture_the_program_and_the_link(screen, browser, lab):
    from PIL import Image

    screen.context.grant_permissions(["clipboard-read", "clipboard-write"])
    screen.preset("Three classes")
    screen.select(3)

    def download(name):
        with screen.page.expect_download() as found:
            screen.at(name).click()
        return found.value.suggested_filename, found.value.path().read_bytes()

    name, content = download("save-svg")
    tree = ElementTree.fromstring(content)
    assert (name, tree.get("width"), tree.get("height")) == ("lab.svg", "700", "700")
    marks = [one for one in tree.iter() if one.get("fill") in ("rgb(0, 114, 178)", "rgb(213, 94, 0)", "rgb(0, 121, 90)")]
    assert len(marks) >= 54
    assert b"class=" not in content
    assert b"var(" not in content
    name, content = download("save-png")
    picture = np.asarray(Image.open(BytesIO(content)).convert("RGB"), dtype=int)
    assert (name, picture.shape) == ("lab.png", (1400, 1400, 3))
    for colour in ((0, 114, 178), (213, 94, 0), (0, 121, 90)):
        assert (np.abs(picture - colour).sum(axis=2) < 10).sum() > 500
    name, content = download("save-code")
    screen.at("copy-code").click()
    assert screen.page.evaluate("navigator.clipboard.readText()") == content.decode()
    names = {"print": lambda *_: None}
    exec(content, names)
    state = screen.state
    np.testing.assert_array_equal(names["X"], state.places)
    lines = screen.drawn("zero")
    model = names["model"].set_params(decision_function_shape="ovo")
    assert np.abs(model.decision_function(lines)).min(axis=1).max() < 0.05
    # the link holds the whole state, in another lab too
    screen.choose("kernel", "poly")
    screen.type("degree", "2")
    screen.at("copy-link").click()
    link = screen.page.evaluate("navigator.clipboard.readText()")
    state = screen.state
    assert link == screen.at("link").input_value()
    assert lab.token in link.partition("#")[0]
    assert lab.token not in link.partition("#")[2]
    with running() as second:
        other = Screen(browser, second)
        other.page.goto(second.address + "#" + link.partition("#")[2])
        other.settle()
        assert other.state == state
        assert other.text("sentence") == screen.text("sentence")
        other.context.close()


def test_a_broken_link_is_an_answer_in_words(screen):
    screen.page.goto(screen.address + "#e=nonsense&p=1,2,A;x,y,Z&v=1e999")
    screen.settle()
    assert "must be" in screen.text("sentence")
    screen.complaints.clear()  # the browser reports the refusal
    screen.preset("Moons")
    assert "proved" in screen.text("sentence")


def test_the_hard_margin_says_in_words_why_it_fails(screen):
    screen.preset("XOR")
    state = STATES["XOR"]
    with pytest.raises(ValueError, match="No hyperplane") as caught:
        HardMarginSVC().fit(state.places, state.labels)
    assert screen.text("sentence") == f"{caught.value} {caught.value.witness.check()}"
    assert screen.page.locator("#points .witness").count() == 4
    assert screen.page.locator("#plot .meeting").count() == 1
    screen.choose("kernel", "rbf")
    assert screen.page.locator("#points .witness").count() == 0
    assert "proved" in screen.text("sentence")


def test_everything_about_points_can_be_done_from_the_keyboard(screen):
    screen.click("clear")
    screen.press("Enter", "Escape", *["ArrowRight"] * 3, "Shift+ArrowUp", "Enter", "2", "Escape", "Shift+ArrowLeft", "Enter")
    assert screen.state.places.tolist() == [[0.0, 0.0], [0.3, 0.5], [-0.5, 0.0]]
    assert screen.state.labels.tolist() == ["A", "B", "A"]
    screen.press("Escape", "n", "n", "ArrowDown")
    assert screen.state.places[1].tolist() == [0.3, 0.4]
    screen.press("l")
    assert "two classes" in screen.text("sentence")
    screen.press("l", "Shift+N", "Delete")
    assert screen.state.labels.tolist() == ["B", "A"]
    screen.press("Control+z")
    assert screen.state.labels.tolist() == ["A", "B", "A"]
    screen.press("Escape", "n", "o")
    assert screen.page.locator("#about").inner_text()


def test_touch_places_selects_and_moves(browser, lab):
    screen = Screen(browser, lab, viewport={"width": 400, "height": 850}, has_touch=True, is_mobile=True)
    screen.click("clear")
    screen.page.touchscreen.tap(*screen.pixel(1, 1))
    screen.settle()
    np.testing.assert_allclose(screen.state.places, [[1, 1]], atol=0.03)
    client = screen.context.new_cdp_session(screen.page)
    for kind, place in (("touchStart", (1, 1)), ("touchMove", (1.5, 2)), ("touchMove", (2, 3)), ("touchEnd", None)):
        x, y = screen.pixel(*place) if place else (0, 0)
        points = [{"x": x, "y": y}] if place else []
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    screen.settle()
    np.testing.assert_allclose(screen.state.places, [[2, 3]], atol=0.05)
    assert screen.text("selected") == "Point 0"
    wide, inner = screen.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inner == 400
    assert screen.complaints == []
    screen.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_it_looks_as_it_should_and_fits(browser, lab, scheme, width, tmp_path):
    from PIL import Image

    screen = Screen(browser, lab, color_scheme=scheme, viewport={"width": width, "height": 850})
    screen.preset("Three classes")
    screen.settle(idle=True)
    shot = tmp_path / "shot.png"
    screen.page.screenshot(path=shot, full_page=True)
    grey = np.asarray(Image.open(shot).convert("L"), dtype=float)
    assert np.median(grey) > 215 if scheme == "light" else np.median(grey) < 80
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    outside = """[...document.querySelectorAll('button, select, input')].filter(one => one.offsetParent)
        .filter(one => one.getBoundingClientRect().right > innerWidth + 1).map(one => one.id)"""
    assert screen.page.evaluate(outside) == []
    screen.context.close()


def test_marks_differ_in_shape_and_colours_have_contrast(screen):
    screen.preset("Three classes")
    shapes = screen.page.evaluate(
        "[...new Set([...document.querySelectorAll('#points .mark')].map(one => one.getAttribute('d')))].length"
    )
    assert shapes == 3

    def light(colour):
        parts = np.array(re.findall(r"\d+", colour)[:3], dtype=float) / 255
        return np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    for theme in ("light", "dark"):
        screen.page.locator("#theme").click()
        assert screen.text("theme") == f"Theme: {theme}"
        look = "name => getComputedStyle(document.querySelector(name))"
        paper = light(screen.page.evaluate(f"({look})('#plot').backgroundColor"))
        for name in ("#points .mark.k0", "#points .mark.k1", "#points .mark.k2"):
            mark = light(screen.page.evaluate(f"name => ({look})(name).fill", name))
            assert (max(mark, paper) + 0.05) / (min(mark, paper) + 0.05) >= 3  # WCAG 2.2, 1.4.11


def test_a_slider_is_on_the_screen_soon(screen):
    """docs/lab.md has the measured figure; here the bound is for machines that do other things besides."""
    screen.preset("200 points")
    for k in range(3):
        screen.slide("value", 0.1 * k)
    taken = []
    for k in range(15):
        screen.slide("value", -0.5 + 0.07 * k)
        taken.append(float(screen.page.locator("#status").get_attribute("data-milliseconds")))
    assert statistics.median(taken) < 1000


def test_a_lab_that_has_ended_is_said_to(browser):
    with running() as lab:
        screen = Screen(browser, lab)
    screen.at("kernel").select_option("rbf")
    screen.page.wait_for_function("() => document.getElementById('status').textContent.includes('is it still running')")
    screen.context.close()


def test_machine_and_page_agree_on_the_sparse_one(screen):
    screen.preset("Leave-one-out cases")
    screen.choose("estimator", "l1")
    state = STATES["Leave-one-out cases"]
    model = LinearSVC("l1", tol=1e-6, max_seconds=1.0).fit(state.places, state.labels)
    assert np.abs(model.decision_function(screen.drawn("zero"))).max() < 0.02
    assert machine(replace(state, estimator="l1")).penalty == "l1"
    assert "leave_one_out" in (screen.settle(idle=True) or screen.text("left-out"))
