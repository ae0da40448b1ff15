"""What `tests.routes` sees of a call."""

import threading
from pathlib import Path

import pytest

from maxmargin.core.losses import Hinge
from tests.routes import ROUTES, left_out, recording, route_of, shown


def test_leave_one_out_passes_the_problem_and_its_certificate():
    route = route_of(left_out(60))
    assert {"core/problem.py", "core/certificate/certify.py"} <= set(route.files)
    assert next(iter(route.files)) == "estimators/leave_one_out/run.py"
    assert not any(path.startswith("_loops") for path in route.files)
    assert all(path.startswith("_loops/") for path in route.loops)
    first = shown("leave_one_out", route, 46).splitlines()[0]
    assert first == f"leave_one_out: {len(route.files)} files, limit 46; {len(route.loops)} files of loops"


def test_threads_are_seen_and_the_first_run_is_not():
    runs = []

    def call():
        runs.append(1)
        if len(runs) == 1:
            Hinge().upper(1.0)
        thread = threading.Thread(target=lambda: Hinge().value(0.5))
        thread.start()
        thread.join()

    route = route_of(call)
    assert len(runs) == 2
    assert "upper" not in " ".join(route.files.values())
    assert any(name.endswith("value") for name in route.files.values())


def test_nothing_is_recorded_outside():
    with recording() as recorder:
        Hinge().value(0.5)
        assert not recorder.entered
        recorder.is_on = True
    Hinge().value(0.5)
    assert not recorder.entered


def test_what_runs_at_import_does_not_count(tmp_path, monkeypatch):
    source = tmp_path / "made_up.py"
    source.write_text("def f():\n    return [i for i in range(3)]\n\n\nclass A:\n    x = f()\n")
    monkeypatch.setattr("tests.routes.FOLDER", tmp_path)
    code = compile(source.read_text(), str(source), "exec")
    names: dict = {"__name__": "made_up"}
    with recording() as recorder:
        recorder.is_on = True
        exec(code, names)
        assert recorder.route().files == {}
        recorder.is_on = True
        names["f"]()
        assert recorder.route().files == {"made_up.py": "f"}


@pytest.mark.parametrize("name", ROUTES)
def test_each_route_keeps_to_its_limit_and_stands_on_the_page(name):
    title, prepare, limit = ROUTES[name]
    route = route_of(prepare())
    assert len(route.files) <= limit
    page = (Path(__file__).parent.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    _, _, after = page.partition(f"{title}: {len(route.files)} files\n")
    written = after.split("\n\n")[0].split("```")[0].replace("→", " ").split()
    assert set(written) == set(route.files)  # in whatever order threads enter them
