"""Results in a terminal and in a notebook."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd

import cobalance as cb
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
    for result in everything(cb.from_frame(frame)):
        page = Page(result._repr_html_())
        assert page.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
        assert page.attributes <= {"style"}
        assert "<script" not in result._repr_html_()
    page = Page(cb.from_frame(frame)._repr_html_())
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
    data = cb.from_frame(frame)
    found = cb.imbalances(data)
    assert repr(found) == found.title()
    plan = cb.plan(found)
    assert plan.title() == (
        "0 images to make (none) in 0 queries. No concept is shown by every class, so no "
        "combination was counted"
    )
    tags = ["cow|road", "cow", "cow|road"]
    single = cb.plan(cb.from_frame(pd.DataFrame({"label": [*"xxy"], "tags": tags})), "conbias")
    assert single.title() == (
        "0 images to make (none) in 0 queries. No gap to close: every class shows each of its "
        "cliques in as many images. Gaps remain in 1 smaller clique: to close them, too, plan with "
        "min_size=1"
    )
    assert "<table" in found._repr_html_() or found.title() in found._repr_html_()
    assert np.isnan(cb.imbalances(data, common=()).frame["log_odds_ratio"]).sum() == 0
