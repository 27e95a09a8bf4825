"""Match concepts to ground truth by name, and images by id or file."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class TruthOf(NamedTuple):
    """The ground truth's attribute that a concept is compared with, perhaps its opposite."""

    attribute: str
    inverted: bool = False


def match_concepts(
    concepts: Sequence[str],
    attributes: Iterable[str],
    mapping: Mapping[str, TruthOf] | None = None,
) -> dict[str, TruthOf]:
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
    {"5 o'clock shadow": TruthOf(attribute='5_o_Clock_Shadow', inverted=False),
     'beard': TruthOf(attribute='No_Beard', inverted=True)}
    """
    # Of attributes with one plain name, the first is taken.
    known = {plain(name): name for name in reversed(list(attributes))}
    matches = {}
    for concept in concepts:
        name = plain(concept)
        opposite = name[3:] if name.startswith("no ") else f"no {name}"
        if mapping and concept in mapping:
            matches[concept] = mapping[concept]
        elif name in known:
            matches[concept] = TruthOf(known[name])
        elif opposite in known:
            matches[concept] = TruthOf(known[opposite], inverted=True)
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
    positions = []
    for forms in zip(*map(_forms, known), strict=True):
        # A form that several images have tells none of them.
        counts = Counter(forms)
        unique = {form: position for position, form in enumerate(forms) if counts[form] == 1}
        positions.append(unique)

    names_by_image = zip(ids, uris, strict=True)
    return [
        _find_position(positions, list(map(_forms, filter(None, names))))
        for names in names_by_image
    ]


def _find_position(
    positions: Sequence[Mapping[str, int]], names: Sequence[tuple[str, ...]]
) -> int | None:
    """Position of an image by the first form of its names that is known, the strictest first."""
    for by_form, forms in zip(positions, zip(*names, strict=True), strict=False):
        for form in forms:
            if form in by_form:
                return by_form[form]
    return None


def _forms(name: str) -> tuple[str, str, str]:
    """A name as it is, its last part, and that without an ending."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return name, last, last.rpartition(".")[0] or last
