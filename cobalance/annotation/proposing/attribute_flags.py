"""Flag attributes that name a class or nearly repeat another; find sensitive categories."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from cobalance.annotation.proposing.proposal_voting import plain_name
from cobalance.base import FloatArray, readable, sklearn
from cobalance.graph import ProposedAttribute
from cobalance.ingest import plural_forms

Embed = Callable[[Sequence[str]], FloatArray]
"""Embeds texts, as an array of shape (texts, dimensions)."""
SYNONYM = 0.9
"""A cosine above it makes two names near synonyms."""
UNSEEN = "seen in no image"
"""Flag of an attribute that no labelled image shows."""
PERCEIVED = "perceived"
"""Word before a sensitive category, see `mark_perceived`."""
PERSONAL = "says of people what images only hint at: gender, age, ethnicity or the like"
"""Flag of an attribute that names a sensitive trait in a category that does not say so."""
_SENSITIVE = (
    "age",
    "ages",
    "aging",
    "ancestry",
    "caste",
    "citizenship",
    "disability",
    "ethnic",
    "ethnicity",
    "ethnicities",
    "faith",
    "gender",
    "genders",
    "nationality",
    "pregnancy",
    "race",
    "races",
    "racial",
    "religion",
    "religious",
    "sex",
    "sexual",
    "sexuality",
    "skin color",
    "skin colour",
    "skin complexion",
    "skin tone",
    "skin type",
    "complexion",
)
_PERSONAL = (
    "adolescent",
    "boy",
    "child",
    "children",
    "elder",
    "elderly",
    "female",
    "feminine",
    "gentleman",
    "gentlemen",
    "girl",
    "ladies",
    "lady",
    "male",
    "man(?! made)",
    "masculine",
    "men",
    "middle aged",
    "nonbinary",
    "senior citizen",
    "teen",
    "teenage",
    "teenager",
    "toddler",
    "transgender",
    "woman",
    "women",
    "years old",
    "youth",
    "dark skin",
    "dark skinned",
    "fair skin",
    "fair skinned",
    "light skin",
    "light skinned",
    "autistic",
    "disabled",
    "gay",
    "lesbian",
    "pregnant",
)
# Of people where nothing else follows: not "asian elephant".
_OF_PEOPLE = (
    "african",
    "african american",
    "asian",
    "caucasian",
    "hispanic",
    "latina",
    "latino",
    "middle eastern",
    "buddhist",
    "catholic",
    "christian",
    "hindu",
    "jewish",
    "muslim",
    "sikh",
)
_PLURAL = re.compile(r"(?<=\w{3})(?<!s)s\b")
_SENSITIVE_WORDS = re.compile(rf"\b(?:{'|'.join(_SENSITIVE)})s?\b")
_PERSONAL_WORDS = re.compile(
    rf"\b(?:{'|'.join(_PERSONAL)})s?\b"
    rf"|\b(?:{'|'.join(_OF_PEOPLE)})(?:s?$| (?:people|person|face|descent|appearance)\b)"
    r"|\b(?:black|white|blind|deaf|old|young) (?:people|persons?)\b"
)


def is_sensitive(category: str) -> bool:
    """Whether a category is of gender, ethnicity, age, or the like, which images only hint at.

    Examples
    --------
    >>> [is_sensitive(name) for name in ("Age group", "skin_tone", "plumage", "image size")]
    [True, True, False, False]
    """
    return _SENSITIVE_WORDS.search(plain_name(category.replace("-", " "))) is not None


def names_sensitive_trait(attribute: str) -> bool:
    """Whether an attribute names a sensitive trait of people, whichever its category.

    Examples
    --------
    >>> attributes = "elderly woman", "perceived age", "stage", "black"
    >>> [names_sensitive_trait(attribute) for attribute in attributes]
    [True, True, False, False]
    """
    words = plain_name(attribute.replace("-", " "))
    return is_sensitive(attribute) or _PERSONAL_WORDS.search(words) is not None


def mark_perceived(category: str) -> str:
    """Mark a sensitive category as perceived: images show how people look, no more.

    Examples
    --------
    >>> mark_perceived("gender"), mark_perceived("Perceived age")
    ('perceived gender', 'perceived age')
    """
    return f"{PERCEIVED} {plain_name(category).removeprefix(PERCEIVED).strip()}"


def flag_attributes(
    attributes: Sequence[ProposedAttribute],
    classes: Collection[str],
    embed: Embed,
    embedder_name: str,
) -> list[ProposedAttribute]:
    """Attributes with the reasons why a person should look at them.

    Parameters
    ----------
    classes : collection of str
        Of the dataset.
    embed : Embed
        For near synonyms: the later of two is flagged.
    embedder_name : str
        Of what embeds, as the flag says it.
    """
    names = [attribute.name for attribute in attributes]
    synonyms = near_synonyms(names, embed)
    flagged = []
    for position, attribute in enumerate(attributes):
        flags = list(attribute.flags)
        if names_sensitive_trait(attribute.name) and not is_sensitive(attribute.category):
            flags.append(PERSONAL)

        named = [name for name in sorted(classes) if names_class(attribute.name, name)]
        if named:
            flags.append(f"names the class {named[0]!r}")

        if position in synonyms:
            nearest, cosine = synonyms[position]
            flags.append(
                f"near synonym of {names[nearest]!r} ({attributes[nearest].category}): merge them? "
                f"(cosine {cosine:.2f} by {embedder_name})"
            )
        flagged.append(replace(attribute, flags=tuple(dict.fromkeys(flags))))
    return flagged


def names_class(attribute: str, class_name: str) -> bool:
    """Whether an attribute names a class: has all its words in order, or is its last ones.

    Examples
    --------
    >>> names_class("american robin", "018.American_Robin"), names_class("sparrow", "House sparrow")
    (True, True)
    >>> names_class("two birds", "bird"), names_class("red", "red-winged blackbird")
    (True, False)
    """
    # Names of classes in files begin with numbers, such as 001.Black_footed_Albatross.
    class_words = _words(readable(re.sub(r"^\d+[._\s-]+", "", class_name)))
    words = _words(attribute)
    if not class_words or not words:
        return False

    n = len(class_words)
    parts = (words[start : start + n] for start in range(len(words) - n + 1))
    has_all = any(_same(part, class_words) for part in parts)
    return has_all or _same(words, class_words[-len(words) :])


def near_synonyms(names: Sequence[str], embed: Embed) -> dict[int, tuple[int, float]]:
    """For each name its nearest earlier one and their cosine, if that is above `SYNONYM`."""
    if len(names) < 2:
        return {}
    vectors = np.asarray(embed(names), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)

    # Below the diagonal, so that of two near synonyms the later one is flagged.
    cosines = np.tril(units @ units.T, -1)
    nearest, highest = cosines.argmax(axis=1).tolist(), cosines.max(axis=1).tolist()
    return {row: (nearest[row], cosine) for row, cosine in enumerate(highest) if cosine > SYNONYM}


def ngram_vectors(texts: Sequence[str]) -> FloatArray:
    """Texts as TF-IDF of the groups of two to four letters in their words, without plural s."""
    counting = sklearn.feature_extraction.text.TfidfVectorizer(
        analyzer="char_wb",
        ngram_range=(2, 4),
        preprocessor=lambda text: _PLURAL.sub("", plain_name(text)),
        dtype=np.float64,
    )
    return np.asarray(counting.fit_transform(texts).toarray())


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", plain_name(text))


def _same(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether words are the same, in the singular or plural."""
    return len(left) == len(right) and all(
        first == second or first in plural_forms(second) or second in plural_forms(first)
        for first, second in zip(left, right, strict=True)
    )
