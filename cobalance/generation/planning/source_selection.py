"""Choose the images that a plan edits, and count exclusions by reason."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from cobalance.base import Action, DataError, OptionError, Setting, check_known
from cobalance.generation.planning.counterfactuals import CounterfactualOptions, check_groups
from cobalance.generation.planning.edited_captions import CaptionEdits
from cobalance.ingest import GroupWords, names_children

GENERATED = "images that were generated"
OTHER_SPLIT = "images of other splits"
OTHER_CONCEPTS = "images without the concepts asked for"
CHILDREN = "images whose captions name children"
NO_CLASS = "images of classes that are no group"
NO_DERIVATIVES = "images whose licence allows no derivatives"
LIMIT = "images beyond the limit"

_NO_DERIVATIVES = re.compile(
    r"(?<![a-z])(?:non?|without)[\W_]*deriv|(?<![a-z\d])nd(?![a-z])", re.IGNORECASE
)
_TEST_SPLIT = re.compile(
    r"(?<![a-z])(?:mini)?(?:tests?|testing|test[a-c]|val|valid|validation|dev|eval|evaluation)"
    r"(?![a-z])"
)


@dataclass(frozen=True, eq=False)
class Selection:
    """Images that a plan edits, and exclusions by reason.

    Parameters
    ----------
    sources : pandas.DataFrame
        As `cobalance.generation.planning.counterfactuals.plan_counterfactuals` takes them.
    left_out : mapping of str to int
        How many images are left out, by reason, as plural nouns; the first reason of each image.
    """

    sources: pd.DataFrame
    left_out: Mapping[str, int] = field(default_factory=dict)


def select_sources(
    images: pd.DataFrame,
    texts: pd.DataFrame,
    groups: Sequence[str],
    options: CounterfactualOptions,
    words: GroupWords | None = None,
) -> Selection:
    """Choose the images that a plan edits.

    Whole images are chosen, never some of an image's groups. Where every group is a class, only
    images of these classes are; no group is inferred from pixels, and captions only ever leave
    images out. Those that name children do so for every recipe, whatever else it does with them.

    Parameters
    ----------
    images : pandas.DataFrame
        All of the dataset: ``id``, ``class_name``, ``split`` (None for none), ``synthetic``,
        ``concepts`` (of str).
    texts : pandas.DataFrame
        What is known of some of them: ``id``, ``captions`` (of str), ``license``,
        ``license_url`` (None where unknown).
    options : CounterfactualOptions
        Its `groups` are not looked at.
    words : GroupWords or None
        The lists of `options.words`, combined.

    Raises
    ------
    OptionError
        The groups or the split cannot be planned for.
    DataError
        Captions are needed and there are none.
    UnknownNameError
        The words have no such group, or the dataset no such concept or split.
    """
    if options.made != "own":
        check_groups(groups, options.made)
    classes = set(images["class_name"])
    if options.made == "others":
        _check_are_classes(groups, classes)
    concepts_shown = {name for concepts in images["concepts"] for name in concepts}
    for names in (options.concepts, *options.cliques):
        check_known("concept", names, concepts_shown)
    split = choose_split(set(images["split"]), options)
    edits = _open_edits(texts, groups, options, words)

    # No group is inferred: where groups are classes, images of other classes show none.
    of_classes = classes
    if options.made != "own" and set(groups) <= classes:
        of_classes = set(groups)

    texts_of = {row["id"]: row for row in texts.to_dict("records")}
    child_words = () if words is None else words.children
    left_out = Counter[str]()
    rows: list[dict[Any, Any]] = []

    for row in images.to_dict("records"):
        text = texts_of.get(row["id"], {})
        captions = text.get("captions") or ()
        reason = _reason(row, text, split, of_classes, options)
        drops_children = reason is None and options.children == "drop"
        if drops_children and any(names_children(caption, child_words) for caption in captions):
            reason = CHILDREN

        edited: dict[str, Any] = {}
        if reason is None and edits is not None:
            edited, reason = edits.edit(captions, row["class_name"])

        if reason is None:
            rows.append(row | edited)
        else:
            left_out[reason] += 1

    if options.limit is not None and len(rows) > options.limit:
        left_out[LIMIT] = len(rows) - options.limit
        rows = sorted(rows, key=lambda row: _digest(row["id"]))[: options.limit]
    rows.sort(key=lambda row: row["id"])
    columns = ["id", "class_name", "concepts"]
    if edits is not None:
        columns += ["caption", "captions"]
    return Selection(pd.DataFrame(rows, columns=columns), dict(left_out.most_common()))


def _check_are_classes(groups: Sequence[str], classes: Collection[str]) -> None:
    for group in groups:
        if group not in classes:
            raise OptionError(
                f"The group {group!r} is no class of the dataset, so that it is unknown which "
                "images show it already. Ask for every group, with ",
                Setting("plan.made", "all"),
                ".",
            )


def _open_edits(
    texts: pd.DataFrame,
    groups: Sequence[str],
    options: CounterfactualOptions,
    words: GroupWords | None,
) -> CaptionEdits | None:
    """Open the editor of captions; None where they stay as they are.

    Raises
    ------
    DataError
        It needs captions, and no image has any.
    """
    if options.captions == "none" or words is None:
        return None

    edits = CaptionEdits(words, tuple(groups), options)
    if options.captions == "one group" and not any(texts["captions"]):
        raise DataError(
            "The recipe edits captions of the dataset's images, and none of them has any. ",
            Action("ingest", ..., captions="captions.json"),
            " to add them, or plan with the recipe pinpoint, which takes images without "
            "captions, too.",
        )
    return edits


def choose_split(splits: Collection[str | None], options: CounterfactualOptions) -> str | None:
    """The split whose images are edited; None where the dataset has no splits.

    An edited copy of a test image would tell a model what it is tested on, so that only a plan of
    images that show their own group takes them, as a control set does (Resampled, section 3.3).

    Raises
    ------
    OptionError
        It is one to test on, and images are to show other groups; or the other way around.
    UnknownNameError
        The dataset has other splits only.

    Examples
    --------
    >>> choose_split({"train2017", "val2017"}, CounterfactualOptions(captions="none"))
    'train2017'
    """
    names = sorted(split for split in splits if isinstance(split, str))
    if not names:
        return None
    is_control = options.made == "own"
    split = _match_split(options.split, names, is_control)

    if is_control and not is_test_split(split):
        raise OptionError(
            f"The split {split!r} is not one to test on, and a control set is made of test "
            "images. Name the test split with ",
            Setting("plan.split"),
            f"; the dataset has {', '.join(names)}.",
        )
    if not is_control and is_test_split(split):
        raise OptionError(
            f"The split {split!r} is for tests, which are to be of real images: images of it "
            "edited would tell a model what it is tested on. Edit images to train on, with ",
            Setting("plan.split", "train"),
            f" (the dataset has {', '.join(names)}), or make a control set of test images, with "
            "the recipe resampled-control.",
        )
    check_known("split", [split], names)
    return split


def _match_split(asked: str, names: Sequence[str], is_control: bool) -> str:
    """The one split whose name begins as the one asked for, else the name asked for."""
    if asked in names:
        return asked

    matches = [name for name in names if name.casefold().startswith(asked.casefold())]
    # Datasets call the split of a control set test, val or dev.
    if not matches and is_control and is_test_split(asked):
        matches = [name for name in names if is_test_split(name)]
    if len(matches) == 1:
        return matches[0]

    # A split for tests is refused with its own reason, whether it exists or not.
    if not is_test_split(asked):
        check_known("split", [asked], names)
    return asked


def is_test_split(name: str) -> bool:
    """Whether a split is for tests or validation, by its name.

    Examples
    --------
    >>> [is_test_split(name) for name in ("test", "val2017", "Valentine", "train", "coco_val2014")]
    [True, True, False, False, True]
    >>> is_test_split("train-val")
    False
    """
    plain = name.casefold()
    has_other_name = "train" in plain and _TEST_SPLIT.match(plain) is None
    return _TEST_SPLIT.search(plain) is not None and not has_other_name


def forbids_derivatives(license_name: str | None, license_url: str | None) -> bool:
    """Whether a licence forbids to publish changed images, by its name or its address.

    Examples
    --------
    >>> forbids_derivatives("Attribution-NoDerivs License", None)
    True
    >>> forbids_derivatives(None, "http://creativecommons.org/licenses/by-nc-nd/2.0/")
    True
    >>> forbids_derivatives("Attribution License", "http://creativecommons.org/licenses/by/2.0/")
    False
    """
    texts = (text for text in (license_name, license_url) if isinstance(text, str))
    return any(map(_NO_DERIVATIVES.search, texts))


def _reason(
    row: Mapping[Any, Any],
    text: Mapping[Any, Any],
    split: str | None,
    classes: Collection[str],
    options: CounterfactualOptions,
) -> str | None:
    """Reason to leave out an image, before its captions are read; None if it stays."""
    concepts = set(row["concepts"])

    if row["synthetic"]:
        return GENERATED
    if split is not None and row["split"] != split:
        return OTHER_SPLIT

    chosen = not options.cliques or any(map(concepts.issuperset, options.cliques))
    if not chosen or not concepts.issuperset(options.concepts):
        return OTHER_CONCEPTS
    if row["class_name"] not in classes:
        return NO_CLASS
    if options.no_derivatives == "drop" and forbids_derivatives(
        text.get("license"), text.get("license_url")
    ):
        return NO_DERIVATIVES
    return None


def _digest(image_id: str) -> bytes:
    """Digest of an id, by which a limit orders images: the same in any dataset."""
    return hashlib.blake2b(image_id.encode(errors="surrogatepass"), digest_size=16).digest()
