"""Meanings of the field's words, from the glossary, for help texts."""

from functools import cache
from pathlib import Path

GLOSSARY = Path(__file__).with_name("glossary.md")
"""Its rows: words, what they mean, and what the paper calls them."""


def meaning(word: str) -> str:
    """The meaning of a word of the glossary, as a sentence of Markdown.

    Examples
    --------
    >>> meaning("size")
    'The number of concepts in a clique.'
    """
    found = _meanings()[word]
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
