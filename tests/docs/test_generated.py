"""The generated pages are those that the program would generate now."""

import pytest

from docs.generate import DOCS, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_page_is_up_to_date(name):
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs`"
