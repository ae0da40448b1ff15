"""What is shown in notebooks is markup of ours, and nothing else is."""

from html.parser import HTMLParser

from maxmargin.notebook import EDGES, box


def test_words_and_numbers_are_escaped_and_tags_are_closed():
    html = box("<script>alert(1)</script> & more", {"<b>": "<i>"}, is_proved=True)
    seen, opened = [], []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            seen.append(tag)
            opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Reader().feed(html)
    assert opened == []
    assert set(seen) == {"div", "table", "tr", "td"}
    assert "&lt;script&gt;" in html


def test_the_edge_tells_what_is_proved_and_words_have_the_colour_of_the_notebook():
    for is_proved, colour in EDGES.items():
        assert f"solid {colour}" in box("It is.", {}, is_proved)
    assert " color:" not in box("It is.", {"a": 1})
