"""What the field's words mean: the table of docs/glossary.md, for help where they first appear."""

from functools import cache
from pathlib import Path

from cobalance.graph.errors import OptionError

GLOSSARY = Path(__file__).with_name("glossary.md")
"""Its rows: words, what they mean, and what the paper calls them."""


def meaning(word: str) -> str:
    """What a word of the glossary means, as a sentence of Markdown.

    Raises
    ------
    OptionError
        The glossary has no such word.

    Examples
    --------
    >>> meaning("size")
    'The number of concepts in a clique.'
    """
    found = _meanings().get(word)
    if found is None:
        raise OptionError(f"The glossary has no {word!r}. It has {', '.join(_meanings())}.")
    return f"{found[0].upper()}{found[1:]}."


@cache
def _meanings() -> dict[str, str]:
    rows = (
        line.replace("\\|", "\0").split("|")
        for line in GLOSSARY.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and not line.startswith("| ---")
    )
    return {
        word.strip(): meant.strip().replace("\0", "|")
        for _, words, meant, *_ in rows
        for word in words.split(",")
        if word.strip() != "word"
    }
