from pathlib import Path

import cobalance.app.web.page
from cobalance.app.web.main import FOLDERS, PAGES, VIEWS
from cobalance.app.web.widgets.wording import GLOSSARY, meaning


def test_every_word_that_a_page_explains_is_there():
    for page in PAGES.values():
        assert all(meaning(word).endswith(".") for word in page.words)


def test_every_folder_of_pages_is_in_the_menu():
    folders = Path(cobalance.app.web.page.__file__).parent.glob("*/page.py")
    assert {file.parent.name for file in folders} == {*FOLDERS, *VIEWS}


def test_every_row_has_a_word_a_meaning_and_what_the_paper_says():
    rows = GLOSSARY.read_text(encoding="utf-8").splitlines()
    table = [row.replace("\\|", "") for row in rows if row.startswith("|")]
    assert {row.count("|") for row in table} == {4}
    words = [word for row in table[2:] for word in row.split("|")[1].split(",")]
    assert len(words) == len(set(words))
