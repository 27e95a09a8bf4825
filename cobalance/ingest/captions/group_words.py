"""Words of groups from several word lists, for captions and prompts."""

from collections.abc import Sequence
from dataclasses import replace

from cobalance.graph.errors import OptionError, Setting
from cobalance.ingest.captions.editor import CaptionEditor
from cobalance.ingest.concepts.group_words import GroupWords
from cobalance.ingest.concepts.word_lists import load_group_words


def combine_words(names: Sequence[str]) -> GroupWords:
    """Word lists as one: that with words of groups, and attributes of the others beside them.

    Raises
    ------
    UnknownNameError, InputError
        There is no such list, or its file cannot be used.
    OptionError
        More than one has words of groups, none has any to edit captions with, or an attribute is in
        two.

    Examples
    --------
    >>> combine_words(["coco-gb", "skin-tone"]).groups[:2]
    ('darker-skinned man', 'darker-skinned woman')
    """
    lists = [load_group_words(name) for name in dict.fromkeys(names)]
    bases = [words for words in lists if words.own_groups]
    if len(bases) > 1:
        raise OptionError(
            f"The word lists {bases[0].name} and {bases[1].name} both have words of groups. Name "
            "one of them with ",
            Setting("plan.words"),
            ", and others that have adjectives alone.",
        )
    base = bases[0] if bases else lists[0]
    for words in lists:
        if words is base:
            continue
        for attribute, adjectives in words.attributes.items():
            if attribute in base.attributes:
                raise OptionError(
                    f"Two word lists have the attribute {attribute!r}. Name one of them with ",
                    Setting("plan.words"),
                    ".",
                )
            base = base.times(attribute, adjectives, () if base.people else words.people)
    CaptionEditor(base)  # raises where nothing can be edited with it
    return replace(base, children=tuple(sorted({one for each in lists for one in each.children})))


def phrases_of(words: GroupWords, groups: Sequence[str]) -> dict[str, dict[str, str]]:
    """Noun and adjective of each group for prompts.

    A product's noun has its adjectives, too: an elderly woman is no "woman" alone.

    Examples
    --------
    >>> phrases_of(combine_words(["coco-gb", "age"]), ["elderly woman", "dog"])
    {'elderly woman': {'noun': 'elderly woman', 'adjective': 'elderly'}}
    >>> phrases_of(combine_words(["coco-gb"]), ["woman"])
    {'woman': {'noun': 'woman', 'adjective': 'feminine'}}
    """
    found = {}
    for known in (replace(words, attributes={}), words):
        for group in known.parts.keys() & set(groups):
            noun, adjective = known.phrase(group)
            if known.parts[group][0]:
                noun = f"{adjective} {noun or 'person'}".strip()
            found[group] = {"noun": noun, "adjective": adjective}
    return {group: found[group] for group in groups if group in found}
