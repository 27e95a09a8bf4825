"""Match concepts to ground truth by name, and images by id or file."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

# Forms of a name, see `_forms`.
_N_FORMS = 3


class TruthAttribute(NamedTuple):
    """The ground truth's attribute that a concept is compared with, perhaps its opposite."""

    attribute: str
    inverted: bool = False


def match_concepts(
    concepts: Sequence[str],
    attributes: Iterable[str],
    mapping: Mapping[str, TruthAttribute] | None = None,
) -> dict[str, TruthAttribute]:
    """Find the ground truth of each concept: by a mapping, by name, or by the opposite's name.

    Names are the same whatever their case and punctuation. CelebA says ``No_Beard``: that is the
    opposite of a concept "beard".

    Parameters
    ----------
    mapping : mapping or None
        What to compare some concepts with; it wins.

    Returns
    -------
    dict
        Concepts without ground truth are left out.

    Examples
    --------
    >>> match_concepts(["5 o'clock shadow", "beard", "hat"], ["No_Beard", "5_o_Clock_Shadow"])
    ... # doctest: +NORMALIZE_WHITESPACE
    {"5 o'clock shadow": TruthAttribute(attribute='5_o_Clock_Shadow', inverted=False),
     'beard': TruthAttribute(attribute='No_Beard', inverted=True)}
    """
    # Of attributes that share a plain name, the first is taken.
    known = {plain(name): name for name in reversed(list(attributes))}
    matches = {}
    for concept in concepts:
        name = plain(concept)
        opposite = name[3:] if name.startswith("no ") else f"no {name}"
        if mapping and concept in mapping:
            matches[concept] = mapping[concept]
        elif name in known:
            matches[concept] = TruthAttribute(known[name])
        elif opposite in known:
            matches[concept] = TruthAttribute(known[opposite], inverted=True)
    return matches


def plain(name: str) -> str:
    """Normalise a name: small letters and digits, with single spaces between.

    Examples
    --------
    >>> plain("Wearing_Hat"), plain("has_bill_shape::curved_(up_or_down)")
    ('wearing hat', 'has bill shape curved up or down')
    """
    return " ".join(re.findall(r"[^\W_]+", name.casefold()))


def match_images(
    ids: Sequence[str], uris: Sequence[str | None], known: Sequence[str]
) -> list[int | None]:
    """Find images in ground truth: by id, by address, by file name, or by that without its ending.

    Parameters
    ----------
    ids, uris : sequence of str, of the same length
        Of the images.
    known : sequence of str
        What ground truth calls its images. A file name that two of them have matches none.

    Returns
    -------
    list of int or None
        The place of each image in `known`.

    Examples
    --------
    >>> match_images(["1", "b", "c"], ["celeba/7.jpg", None, "x/z.png"], ["b", "7.jpg"])
    [1, 0, None]
    """
    known_forms = list(map(_forms, known))
    positions: list[dict[str, int]] = []
    for strictness in range(_N_FORMS):
        # A form that several images have tells none of them.
        forms = [forms_of_image[strictness] for forms_of_image in known_forms]
        counts = Counter(forms)
        unique = {form: position for position, form in enumerate(forms) if counts[form] == 1}
        positions.append(unique)

    matches = []
    for names in zip(ids, uris, strict=True):
        forms_of_image = [_forms(name) for name in names if name]
        matches.append(_find_position(positions, forms_of_image))
    return matches


def _find_position(
    positions: Sequence[Mapping[str, int]], forms_of_image: Sequence[Sequence[str]]
) -> int | None:
    """Position of an image by the first form of its names that is known, the strictest first."""
    for strictness, position_by_form in enumerate(positions):
        for forms in forms_of_image:
            if forms[strictness] in position_by_form:
                return position_by_form[forms[strictness]]
    return None


def _forms(name: str) -> tuple[str, str, str]:
    """A name as it is, its last part, and that without an ending: the strictest form first."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return name, last, last.rpartition(".")[0] or last
