"""Results in a terminal and in a notebook."""

import sys
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.errors import MissingExtraError
from tests.conftest import HOSTILE


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def everything(data: cb.Data) -> list[object]:
    found = cb.imbalances(data, common=())
    plan = cb.plan(found, min_size=1)
    return [data, found, found.top(0), plan, plan.simulate(), cb.concept_graph(data)]


def test_hostile_names_are_text():
    frame = pd.DataFrame(
        {"label": ["<b>x</b>", "y & z", "<b>x</b>"], "tags": [list(HOSTILE), ["<i>"], ["<i>"]]}
    )
    for result in everything(cb.read(frame)):
        page = Page(result._repr_html_())
        assert page.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
        assert page.attributes <= {"style"}
        assert "<script" not in result._repr_html_()
    page = Page(cb.read(frame)._repr_html_())
    assert "<script>alert(1)</script>" in page.text
    assert "<b>x</b>" in page.text


def test_nothing_is_loaded_from_elsewhere_and_colours_are_the_page_s():
    for result in everything(cb.urbancars()):
        html = result._repr_html_()
        assert "://" not in html
        assert "url(" not in html
        assert "color:inherit" in html
        assert result.title() in Page(html).text
        assert repr(result).startswith(result.title())


def test_a_result_of_nothing_is_shown_too():
    frame = pd.DataFrame({"label": ["x", "y"], "tags": ["cow", "road"]})
    data = cb.read(frame)
    found = cb.imbalances(data)
    assert repr(found) == found.title()
    plan = cb.plan(found)
    assert plan.title() == (
        "0 images to make (none) in 0 queries. No concept is shown by every class, so no "
        "combination was counted"
    )
    tags = ["cow|road", "cow", "cow|road"]
    single = cb.plan(cb.read(pd.DataFrame({"label": [*"xxy"], "tags": tags})), "conbias")
    assert single.title() == (
        "0 images to make (none) in 0 queries. No gap to close: every class shows each of its "
        "cliques in as many images. Gaps remain in 1 smaller clique: to close them, too, plan with "
        "min_size=1"
    )
    assert "<table" in found._repr_html_() or found.title() in found._repr_html_()
    assert np.isnan(cb.imbalances(data, common=()).frame["log_odds_ratio"]).sum() == 0


def test_a_line_has_room_for_it_or_says_which_columns_are_left_out():
    classes = [f"class {n}" for n in range(12)]
    tags = [["cow", "road", "field"]] * 12
    result = cb.imbalances(cb.read(pd.DataFrame({"label": classes, "tags": tags})), max_size=1)
    title, *table = repr(result).splitlines()
    assert title == result.title()
    assert all(len(line) <= 120 for line in table[:-1])
    assert "rate difference" in table[0]
    left_out = table[-1].removeprefix("… and the columns ").split(", ")
    assert left_out[-1] == "class 9"
    assert all(name in table[0] for name in set(result.shown()).difference(left_out))


def test_plots_draw_what_is_shown(found, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    axes = found.plot(3)
    assert [label.get_text() for label in axes.get_yticklabels()] == found[:3].frame[
        "concepts"
    ].str[0].tolist()
    expected = [(78 - 1492) / (78 + 1492), (1438 - 77) / (1438 + 77), (78 - 1435) / (78 + 1435)]
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], expected)
    assert found.plot(1, ax=axes) is axes
    drawn = cb.urbancars().plot(2)
    assert [bar.get_width() for bar in drawn.patches] == [1492, 77, 78, 1438]
    three = cb.read(pd.DataFrame({"label": [*"xyz"], "tags": ["$a_$"] * 3}))
    assert len(cb.imbalances(three).plot().get_lines()) == 4  # of the classes, and at 0
    many = cb.read(pd.DataFrame({"label": [f"{n:02}" for n in range(20)], "tags": "cow"}))
    with warnings.catch_warnings(action="error"):
        for result in (many, cb.imbalances(many)):
            drawn = result.plot()
            drawn.figure.canvas.draw()
            legend = drawn.get_legend()
            assert legend.get_title().get_text() == "8 more not drawn"
            assert len(legend.get_texts()) == 12
            assert legend.get_window_extent().x0 > drawn.get_window_extent().x1
            assert "07 1 and 12 more" in result.title()
    plan = cb.plan(found, min_size=1)
    assert [bar.get_width() for bar in plan.plot(5).patches] == plan.frame["n"][:5].tolist()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"A plot needs packages .*\[plot\]"):
        found.plot()
