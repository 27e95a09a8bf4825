"""Plans of counterfactuals: the same image with another group, one query per image and group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd

from cobalance.base import Edit, OptionError, PlannedQuery, Setting, check_known
from cobalance.ingest import name_fault

Shows = Literal["all", "others", "own"]
CaptionMode = Literal["one group", "unify", "none"]
KeepOrDrop = Literal["drop", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterfactualOptions:
    """Options of a plan that edits images.

    Parameters
    ----------
    groups : tuple of str
        Groups to show, such as woman and man; empty: those of the word lists.
    made : {"all", "others", "own"}
        What each image is edited to show: every group, its own included; the other groups; or its
        own alone, with its captions unedited, as a control set is made.
    words : tuple of str
        Word lists, by name or path, that captions are edited with: one with words of the groups,
        and any number with adjectives, which are combined with them. Empty for a recipe that
        looks at no caption.
    captions : {"one group", "unify", "none"}
        Which images their captions allow to edit. ``one group``: those whose captions name one
        group and no other; the first one that does so is what the prompt is made from. ``unify``:
        all, and every word of another group becomes the counterpart. ``none``: all, and captions
        are not edited.
    unnamed : {"keep", "drop"}
        What becomes of the other captions of such an image that name no group: they are true of
        every group, or left out, as those that cannot be edited always are.
    split : str
        The only split to edit images of, where the dataset has any; the recipe's own (train or
        test) stands for the one split whose name begins like that.
    children : {"drop", "keep"}
        What becomes of images whose captions name children, by words or by ages up to 17.
    no_derivatives : {"drop", "keep"}
        What becomes of images whose licence forbids to publish changed ones.
    limit : int or None
        At most so many images, chosen by a hash of their ids.
    concepts : tuple of str
        Only images that show all of these.
    cliques : tuple of tuple of str
        Only images that show all concepts of one of these.

    Raises
    ------
    OptionError
        One of them is not as above.
    """

    groups: tuple[str, ...] = ()
    made: Shows = "all"
    words: tuple[str, ...] = ()
    captions: CaptionMode = "one group"
    unnamed: KeepOrDrop = "keep"
    split: str = "train"
    children: KeepOrDrop = "drop"
    no_derivatives: KeepOrDrop = "drop"
    limit: int | None = None
    concepts: tuple[str, ...] = ()
    cliques: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        for kind, value, choices in (
            ("choice of what is made", self.made, Shows),
            ("way with captions", self.captions, CaptionMode),
            ("choice for captions that name no group", self.unnamed, KeepOrDrop),
            ("choice for images of children", self.children, KeepOrDrop),
            ("choice for licences without derivatives", self.no_derivatives, KeepOrDrop),
        ):
            check_known(kind, [value], get_args(choices))

        if self.captions != "none" and not self.words:
            raise OptionError(
                f"Captions are looked at ({self.captions}), and ",
                Setting("plan.words"),
                " names no list of words. Name one, or do without captions.",
            )
        if self.limit is not None and self.limit < 1:
            raise OptionError(
                f"limit is {self.limit}; edit 1 image or more, or leave it out for no limit."
            )

        if self.groups:
            check_groups(self.groups, self.made)
        if not all(self.cliques):
            raise OptionError("A clique without concepts was chosen. Name its concepts.")


def check_groups(groups: Sequence[str], made: Shows) -> None:
    """Raise OptionError unless groups can be planned for.

    Examples
    --------
    >>> check_groups(["woman"], "all")
    Traceback (most recent call last):
    ...
    cobalance.base.errors.OptionError: An image is to be edited to show each of several groups, \
and there is only 'woman'. Name two or more with plan.groups.
    """
    for name in groups:
        if (fault := name_fault(name)) is not None:
            raise OptionError(f"The group {name!r} {fault}. Give it a readable name.")

    if len(set(groups)) < len(groups):
        raise OptionError(f"A group is named twice: {', '.join(groups)}. Name each once.")

    if made != "own" and len(groups) < 2:
        present = f"only {groups[0]!r}" if groups else "none"
        raise OptionError(
            "An image is to be edited to show each of several groups, and there is "
            f"{present}. Name two or more with ",
            Setting("plan.groups"),
            ".",
        )


def plan_counterfactuals(
    images: pd.DataFrame, groups: Sequence[str], made: Shows = "all"
) -> tuple[PlannedQuery, ...]:
    """Ask for each image edited to show each group.

    Every image gets as many queries as every other one, so that any set of concepts occurs equally
    often in all groups once all images are made (Resampled, section 2.1, eq. 1): with ``all`` among
    the edited images, with ``others`` together with the images themselves.

    Parameters
    ----------
    images : pandas.DataFrame
        A row an image, in any order: ``id``, ``class_name``, ``concepts`` (of str, any order).
        Where captions are edited also ``caption``, that of the prompt, and ``captions``, all of
        them: mappings by group, or one value for all groups.
    groups : sequence of str
        In the order in which to ask for them, none twice. They need not be classes, except with
        ``others``, where each image's class is one of them; with ``own`` there are none.
    made : {"all", "others", "own"}
        As in `CounterfactualOptions`.

    Returns
    -------
    tuple of PlannedQuery
        By id of the image, then in the order of the groups; each for one image.
    """
    queries = []
    for row in images.sort_values("id", kind="stable").to_dict("records"):
        own_group = row["class_name"]
        if made == "own":
            targets: Sequence[str] = [own_group]
        elif made == "others":
            targets = [group for group in groups if group != own_group]
        else:
            targets = groups

        concepts = tuple(sorted(set(row["concepts"])))
        for group in targets:
            edit = Edit(
                source_image=row["id"],
                caption=_of_group(row.get("caption"), group) or "",
                captions=tuple(_of_group(row.get("captions"), group) or ()),
                own_group="" if made == "all" else own_group,
            )
            queries.append(PlannedQuery(group, concepts, 1, edit))
    return tuple(queries)


def _of_group(value: Any, group: str) -> Any:
    return value.get(group) if isinstance(value, Mapping) else value
