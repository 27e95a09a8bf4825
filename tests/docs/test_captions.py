"""The word list in docs/captions.md does what the page says."""

import re
from pathlib import Path

from cobalance.ingest.captions.caption_editor import CaptionEditor
from cobalance.ingest.concepts.word_lists import load_group_words

PAGE = Path(__file__).parents[2] / "docs" / "captions.md"


def test_the_pages_word_list(tmp_path):
    (content,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    path = tmp_path / "pets.toml"
    path.write_text(content, "utf-8")
    editor = CaptionEditor(load_group_words(str(path)))
    assert editor.groups == tuple(
        f"{age} {pet}" for age in ("old", "young") for pet in ("cat", "dog", "owl")
    )
    assert editor.edit("A cat plays", "old owl") == "An old owl plays"
    assert editor.neutralise("An owl and kittens") == "An animal and animals"
    assert editor.words.phrase("young dog") == ("dog", "young")
