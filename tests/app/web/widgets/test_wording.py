from cobalance.app.web.main import PAGES, WORDS
from cobalance.app.web.widgets.wording import GLOSSARY, meaning


def test_every_word_that_a_page_explains_is_there():
    assert set(WORDS) <= {title for title, *_ in PAGES}
    for words in WORDS.values():
        assert all(meaning(word).endswith(".") for word in words)


def test_every_row_has_a_word_a_meaning_and_what_the_paper_says():
    rows = GLOSSARY.read_text(encoding="utf-8").splitlines()
    table = [row.replace("\\|", "") for row in rows if row.startswith("|")]
    assert {row.count("|") for row in table} == {4}
    words = [word for row in table[2:] for word in row.split("|")[1].split(",")]
    assert len(words) == len(set(words))
