"""English plurals, for matching captions."""

_IRREGULAR = {
    "child": "children",
    "foot": "feet",
    "goose": "geese",
    "louse": "lice",
    "man": "men",
    "mouse": "mice",
    "ox": "oxen",
    "person": "people",
    "tooth": "teeth",
    "woman": "women",
}
# Final words that compounds keep irregular: policeman, grandchild, forefoot, and so on.
_COMPOUND = ("woman", "man", "child", "foot", "tooth", "goose", "person")
_NOT_COMPOUND = frozenset({"human", "german", "roman", "shaman", "ottoman", "talisman", "caiman"})
_UNCHANGED = frozenset({"aircraft", "deer", "fish", "offspring", "salmon", "series", "sheep"})
_VES = frozenset({"calf", "elf", "half", "knife", "leaf", "life", "loaf", "scarf", "sheaf", "shelf",
                  "thief", "wife", "wolf"})  # fmt: skip
_OES = frozenset({"buffalo", "echo", "hero", "mango", "mosquito", "potato", "tomato", "tornado",
                  "volcano", "torpedo"})  # fmt: skip


def plural_forms(word: str) -> tuple[str, ...]:
    """Plurals of a lower-case singular noun, the most common first.

    Examples
    --------
    >>> plural_forms("bus"), plural_forms("leaf"), plural_forms("fireman")
    (('buses',), ('leaves', 'leafs'), ('firemen',))
    >>> plural_forms("person"), plural_forms("sheep"), plural_forms("berry"), plural_forms("key")
    (('people', 'persons'), (), ('berries',), ('keys',))
    """
    if word in _UNCHANGED or not word[-1:].isalpha():
        return ()
    if word == "person":
        return ("people", "persons")

    if word in _IRREGULAR:
        return (_IRREGULAR[word],)

    if word not in _NOT_COMPOUND:
        for end in _COMPOUND:
            if word.endswith(end):
                return (word.removesuffix(end) + _IRREGULAR[end],)
    if word in _VES or word.endswith(("shelf", "knife", "leaf", "wife")):
        stem = word.removesuffix("e").removesuffix("f")
        return (stem + "ves", word + "s")

    if word.endswith(("s", "x", "z", "ch", "sh")):
        return (word + "es",)
    if word.endswith("y") and word[-2:-1] not in ("a", "e", "i", "o", "u", ""):
        return (word[:-1] + "ies",)
    if word in _OES:
        return (word + "es", word + "s")
    return (word + "s",)
