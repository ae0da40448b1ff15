"""``maxmargin demo``: where its page goes."""

from maxmargin.cli.commands.demo import free_place


def test_the_demo_replaces_no_page(call, tmp_path):
    assert free_place() == tmp_path / "maxmargin_demo.html"
    (tmp_path / "maxmargin_demo.html").write_text("mine")
    assert free_place() == tmp_path / "maxmargin_demo_2.html"
    assert "already exists" in call("demo", "--report", "maxmargin_demo.html", code=1).err
    assert (tmp_path / "maxmargin_demo.html").read_text() == "mine"
