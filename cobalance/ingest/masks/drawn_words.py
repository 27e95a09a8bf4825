"""Words in names of folders and files that say a picture is drawn of another, or is the other."""

import posixpath
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from cobalance.ingest.names import split_named

_DRAWN = {
    "alpha", "ann", "anno", "annos", "annot", "annotation", "annotations", "annots", "depth",
    "depths", "disparity", "edge", "edges", "gt", "gtcoarse", "gtfine", "gts", "groundtruth",
    "groundtruths", "instance", "instanceids", "instances", "lab", "label", "labeledapproved",
    "labelids",
    "labels", "labeltrainids", "manual", "manual1", "manual2", "mask", "masks", "matte", "mattes",
    "panoptic", "parsing", "parts", "saliency", "seg", "segmap", "segmaps", "segmentation",
    "segmentations", "segs", "semantic", "semantics", "stuffthingmaps", "superpixels", "target",
    "targets", "trainids", "trimap", "trimaps", "truth",
}  # fmt: skip
_IMAGE = {
    "image", "images", "img", "imgs", "imgsfine", "input", "inputs", "jpegimages", "jpg", "jpgs",
    "leftimg8bit", "org", "ortho", "orig", "original", "originals", "photo", "photos", "picture",
    "pictures", "raw", "rgb", "sat", "source", "src", "stillsraw", "top",
}  # fmt: skip
# Beside the others these say nothing of a place.
_FILLERS = {"1st", "2nd", "all", "boundary", "color", "colour", "complete", "dir", "eroded", "for",
            "full", "ground", "no", "object", "participants", "png", "set"}  # fmt: skip
# Of these words a folder of classes may be called, too.
_WEAK = {"alpha", "ann", "anno", "depth", "edge", "edges", "gt", "gts", "instance", "instances",
         "lab", "label", "labels", "manual", "mask", "masks", "matte", "parts", "seg", "segs",
         "target",
         "targets", "truth"}  # fmt: skip
# Never read for the kinds of things that an image shows.
_OTHER = {"alpha", "depth", "depths", "disparity", "edge", "edges", "instance", "instances",
          "matte", "mattes", "object", "panoptic", "parts", "saliency", "superpixels"}  # fmt: skip
_FUSED = (
    (re.compile(r"(train|val|valid|test)(annot|mask|label)s?"), r"\1_\2s"),
    (re.compile(r"segmentation_?class(raw|aug|ext)?"), "segmentation"),
    (re.compile(r"segmentation_?object(raw|aug|ext)?"), "segmentation_object"),
    (re.compile(r"ground[-_ ]truths?"), "groundtruth"),
    (re.compile(r"\b(mask|image|img|label|lab|gt|seg)(\d+)"), r"\1_\2"),
)
# People who wear a mask.
_WORN = re.compile(r"(with|without|no|non|not|wearing|incorrect\w*|incorrectly)[-_ ]*mask")
_ROLES = re.compile("|".join(sorted(_DRAWN | _IMAGE)) + r"|_[lp]$")
_BETWEEN = re.compile(r"[-_. ()]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Names of classes that nobody has named.
_NUMBERED = re.compile(r"label[-_ ]?\d+")
RANKS = {"labelids": 0, "segmentation": 1, "semantic": 1, "semantics": 1,
         "manual1": 1, "1st": 1, "labeltrainids": 4, "trainids": 4, "color": 3,
         "colour": 3, "rgb": 3, "manual2": 4, "2nd": 4, "trimap": 5, "trimaps": 5,
         "instanceids": 6}  # fmt: skip
"""Of several masks of an image, those with the lowest are read; 2 is any other."""


class Words(NamedTuple):
    """Words in the name of a folder or a file.

    `rest` is the name without words for what its picture is; `drawn` and `is_weak` say whether it
    is called as pictures are that are drawn, and as classes may be, too; `is_image` whether as the
    pictures that those are drawn of. `rank` is None for what is no mask of kinds of things.
    """

    rest: str
    is_drawn: bool
    is_weak: bool
    is_image: bool
    rank: int | None


@lru_cache(maxsize=1 << 16)
def folder_words(name: str) -> Words:
    """Words of one folder's name.

    Examples
    --------
    >>> folder_words("train_masks").rest, folder_words("gtFine").is_drawn
    ('train', True)
    >>> folder_words("with_mask").is_drawn
    False
    """
    return _words(name, ends=False)


def file_words(path: str) -> Words:
    """Words of a picture's name; a number after a word for a mask is left out.

    Examples
    --------
    >>> file_words("a/reef_1_mask.png").rest, file_words("reef_1_mask_2.png").rest
    ('reef_1', 'reef_1')
    >>> file_words("0001TP_006690_L.png").rest, file_words("gt_0001.png").rest
    ('0001tp_006690', '0001')
    """
    return _words(posixpath.splitext(posixpath.basename(path))[0], ends=True)


def _words(name: str, *, ends: bool) -> Words:
    """Words of a name; `ends` says that it is a file's, with a number, an L or a P at its end."""
    lower = name.lower()
    # Most names say nothing, of very many pictures.
    if _ROLES.search(lower) is None:
        plain_name = _BETWEEN.sub("_", lower).strip("_")
        return Words(plain_name or lower, False, True, False, 2)

    for pattern, plain in _FUSED:
        lower = pattern.sub(plain, lower)
    is_numbered = not ends and _NUMBERED.fullmatch(lower)
    if is_numbered or _WORN.search(lower):
        return Words(lower, False, False, False, None)
    parts = _BETWEEN.split(lower)
    # Synthia has DepthLeft and RGBLeft.
    if _DRAWN.isdisjoint(parts) and _IMAGE.isdisjoint(parts):
        divided = _BETWEEN.split(_CAMEL.sub("_", name).lower())
        if not _DRAWN.isdisjoint(divided) or not _IMAGE.isdisjoint(divided):
            parts = divided

    drawn = [number for number, part in enumerate(parts) if part in _DRAWN]
    # CamVid's masks end in _L, and in _P where their values are indices.
    if ends and not drawn and len(parts) > 1 and parts[-1] in ("l", "p"):
        drawn = [len(parts) - 1]
    # A number after a word for a mask tells several of one image apart.
    if ends and drawn and drawn[0] > 0 and all(map(str.isdecimal, parts[drawn[-1] + 1 :])):
        parts = parts[: drawn[-1] + 1]

    has_role = bool(drawn) or not _IMAGE.isdisjoint(parts)
    rest = [part for number, part in enumerate(parts) if number not in drawn]
    if has_role:
        rest = _without_fillers(rest, ends=ends)
    ranks = [RANKS[part] for part in parts if part in RANKS]
    strong = {parts[number] for number in drawn} - _WEAK
    return Words(
        "_".join(filter(None, rest)) or (lower if ends else ""),
        is_drawn=bool(drawn),
        is_weak=not strong,
        is_image=not drawn and has_role,
        rank=max(ranks, default=2) if _OTHER.isdisjoint(parts) else None,
    )


def _without_fillers(parts: Sequence[str], *, ends: bool) -> list[str]:
    """Words of a name but for images and fillers.

    Of a file's name numbers are kept; a split in it, but for the first and the last word, is not.
    """
    rest = list[str]()
    for number, part in enumerate(parts):
        is_inside = 0 < number < len(parts) - 1
        is_split = ends and is_inside and split_named(part) is not None
        is_number = not ends and part.isdecimal()
        if not (part in _IMAGE or part in _FILLERS or is_split or is_number):
            rest.append(part)
    return rest
