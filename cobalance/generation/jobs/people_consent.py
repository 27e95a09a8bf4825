"""Consent to painting people: check that a job has it where needed."""

import re
from collections.abc import Collection
from functools import cache

from cobalance.base import OptionError, Setting
from cobalance.generation.jobs.settings import JobSettings
from cobalance.generation.recipes import RECIPES
from cobalance.generation.sources.mask_settings import ANY
from cobalance.generation.sources.object_regions import PEOPLE
from cobalance.ingest import group_list_names, load_group_words

_OTHERS = frozenset({"human", "humans", "pedestrian", "pedestrians", "people", "person", "persons"})
_PARTS = frozenset(
    "arm arms body crowd face faces hair hand hands head heads leg legs skin".split()  # noqa: SIM905
)
_CHANGES_OBJECTS = frozenset({"brushnet", "instruct", "patch"})
_KEEPS_PARTS = frozenset({"instruct", "patch"})


def check_consent(settings: JobSettings, groups: Collection[str], *, is_edit: bool = False) -> None:
    """Raise OptionError if a job would paint people without anyone's consent.

    A recipe that paints people says so. Its object is a person unless ``masks.object`` names what
    it is and none of these names is that of people, of a part of them, or ``"*"``; where
    ``masks.object`` is empty, unless neither does any group. A job that edits whatever is within
    the outline (``making.paint=object``) with another recipe is asked for consent where one of
    these names is that of people; so is one that edits images with a backend that changes their
    object. A part of a real person stays with the recipes that say so, and with any other that is
    given parts to paint, or a backend that changes an object only partly.

    Nothing of it has a default, nor can be set for all jobs. Whoever orders a job is asked here,
    and workers ask again before they make the first image of one, however it was ordered.

    Parameters
    ----------
    groups : collection of str
        The classes of its queries.
    is_edit : bool
        Whether its queries name the images to edit.
    """
    recipe = RECIPES[settings.recipe]
    names = list(settings.masks.object) or list(groups)
    people = recipe.people
    changes_objects = is_edit and settings.backend in _CHANGES_OBJECTS
    if settings.making.get("paint") == "object" or changes_objects:
        people = people or "paints"
    if people and (settings.parts is not None or settings.backend in _KEEPS_PARTS):
        people = "alters"
    if not people or not may_be_people(names):
        return

    if not settings.consent.strip():
        listed = ", ".join(map(repr, names[:3]))
        if len(names) > 3:
            listed += ", and others"
        raise OptionError(
            f"The recipe {settings.recipe} paints people ({listed}). Say on what basis that is "
            "done, such as the consent of those shown or a review of the project, with ",
            Setting("consent", "BASIS"),
            "; it is kept with the job, its manifest and the dataset. Where the objects are no "
            "people, name what they are, with ",
            Setting("masks.object", "dog"),
            ".",
        )

    if people == "alters" and not settings.alters_real_people:
        raise OptionError(
            f"With the recipe {settings.recipe} a part of a real person stays in the image, who "
            "is shown as somebody else. Confirm that this is meant, with ",
            Setting("alters_real_people", True),
            ", or take the recipe resampled, which paints the whole person anew.",
        )


def may_be_people(names: Collection[str]) -> bool:
    """Whether any of some concepts or classes is one of people.

    Examples
    --------
    >>> may_be_people(["dog", "teddy bear"]), may_be_people(["darker-skinned woman"])
    (False, True)
    >>> may_be_people(["elderly"]), may_be_people(["elderly dog"]), may_be_people(["*"])
    (True, False, True)
    """
    # Any object may be a person.
    if ANY in names:
        return True

    for name in names:
        words = re.split(r"[\s_-]+", name.casefold().strip())
        phrase = " ".join(words)
        if phrase in _attributes_and_parts() or not _people().isdisjoint({phrase, *words}):
            return True
    return False


@cache
def _people() -> frozenset[str]:
    """Words for people, of all built-in word lists."""
    people = set[str](PEOPLE | _OTHERS)
    for name in group_list_names():
        words = load_group_words(name)
        people |= {*words.people, *words.children}
        for row in words.rows:
            people |= {*row.words, *row.words.values()}
    return frozenset(name.replace("-", " ") for name in people)


@cache
def _attributes_and_parts() -> frozenset[str]:
    """Words that mean people when they stand alone, such as *elderly* or *face*."""
    values = set[str](_PARTS)
    for name in group_list_names():
        for attributes in load_group_words(name).attributes.values():
            values |= set(attributes)
    return frozenset(value.replace("-", " ") for value in values)
