"""Semantic segmentation: images, and masks with a label for each pixel."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, filterfalse, islice
from operator import attrgetter
from pathlib import PurePosixPath

from cobalance.base import Annotations, InputError, Progress, Setting, inflect, track
from cobalance.ingest.collector import SKIPPED, Collector
from cobalance.ingest.formats.image_folder import annotation_files
from cobalance.ingest.masks.label_names import COLUMN, NOTHING, LabelNames, label_names
from cobalance.ingest.masks.mask_cache import MaskCache, MaskContent, Region
from cobalance.ingest.masks.pairs import Masks, masks_in
from cobalance.ingest.names import map_values, split_folders, split_within
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.paths import are_classes
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import TreeReader, format_of
from cobalance.ingest.trees import FileTree
from cobalance.vision import (
    MAX_BYTES,
    ImageFileError,
    SegmentationError,
    label_regions,
    read_label_map,
)

_SAMPLED = 20  # masks that show which values need a name
_SHOWN = 12  # values in a message
_WHITES = {1, NOTHING}
_LISTS = tuple(f"imagesets/segmentation/{split}.txt" for split in ("train", "val", "test"))
_MOST_OUTLINES = 2_000_000_000  # bytes of outlines of all masks, beyond which these have none


class SemanticMasks(TreeReader):
    """Reader of pictures with masks: the values of a mask are concepts of its image.

    A mention has its pixels as area, a box around them, and COCO's run lengths. Images without a
    mask were not looked at, and are left out.
    """

    description = "Semantic segmentation: images, and masks of the same names"

    def detects_tree(self, tree: FileTree) -> bool:
        """Whether there are images with masks, and names for these or no classes of folders."""
        masks = masks_in(tree)
        if not masks.of_image:
            return False
        try:
            has_names = label_names(tree, masks, ReadOptions()) is not None
        # Reading says which files differ.
        except InputError:
            has_names = True

        # Boxes and tables come before masks; a table beside named masks lists these.
        others = annotation_files(tree)
        if has_names:
            return {PurePosixPath(name.lower()).suffix for name in others} <= {".csv"}
        has_classes = are_classes(map(posixpath.dirname, masks.images))
        return not has_classes and not any(others)

    def read_tree(self, tree: FileTree, options: ReadOptions, progress: Progress) -> Annotations:
        """Read all masks, name their values, and look for the images' splits."""
        problems = Problems(str(tree.path), options)
        masks = masks_in(tree)
        if not masks.of_image:
            raise problems.fatal(
                "has no masks beside its images that say kinds of things",
                ("For the images alone, set ", Setting("input_format", "image-folder"), "."),
            )

        names = label_names(tree, masks, options)
        if names is None:
            raise _without_names(tree, masks, problems)
        contents = _read_masks(tree, masks, problems, progress)
        labels = _Labels(names, contents)
        labels.report(problems)

        collector = Collector(problems, options)
        split_of = _splits(tree, list(masks.of_image))
        has_pictures = bool(masks.images)
        n_bytes = 0
        for image, of_image in masks.of_image.items():
            if not all(map(labels.are_known, of_image)):
                continue
            first = contents[of_image[0]]
            row = collector.image(
                image,
                image,
                uri=image if has_pictures else None,
                width=first.width_px,
                height=first.height_px,
                split=split_of[image],
            )
            if row != SKIPPED:
                n_bytes = _mention(collector, row, of_image, contents, labels, n_bytes)

        notes = [
            masks.note(tree.path, are_read=True),
            *labels.notes(tree.path),
            *_left_out(tree, masks),
        ]
        if n_bytes > _MOST_OUTLINES:
            notes.append(f"{tree.path}: outlines beyond {_MOST_OUTLINES:,} bytes are left out")
        annotations = collector.annotations(progress, notes)
        return replace(annotations, roles={**annotations.roles, COLUMN: COLUMN})


def _mention(
    collector: Collector,
    row: int,
    masks: Sequence[str],
    contents: Mapping[str, MaskContent],
    labels: "_Labels",
    n_bytes: int,
) -> int:
    """Add the regions of an image's masks; returns the bytes of all outlines so far."""
    for mask in masks:
        for region in contents[mask].regions:
            name = labels.name(mask, region)
            if name is None:
                continue
            n_bytes += len(region.segmentation)
            outline = region.segmentation if n_bytes <= _MOST_OUTLINES else None
            collector.mention(
                row,
                name,
                mask,
                box=region.box,
                area=region.area_px2,
                segmentation=outline,
            )
    return n_bytes


@dataclass
class _Labels:
    """Names of the regions of all masks."""

    names: LabelNames
    contents: Mapping[str, MaskContent]

    def __post_init__(self) -> None:
        values = set[int]()
        for content in self.contents.values():
            if not content.is_colour:
                values.update(map(attrgetter("value"), content.regions))
        # A mask of black and white has one thing, however its white is written.
        self._is_binary = len(values - {0}) == 1 and values <= {0, *_WHITES}
        self._uses_colours = map_values(self._has_named_colours, self.contents)

    def _has_named_colours(self, content: MaskContent) -> bool:
        """Whether a mask's colours, of pixels or of its palette, are those with names."""
        colours = list(map(partial(_colour, content), content.regions))
        named = {*self.names.by_colour, 0}
        # A palette may be no more than a row of blacks.
        are_told_apart = len({*colours}) == len(colours)
        return bool(self.names.by_colour) and are_told_apart and named.issuperset(colours)

    def name(self, mask: str, region: Region) -> str | None:
        """The name of a region; None for background, void and values without a name."""
        return self._look_up(mask, region)[1]

    def are_known(self, mask: str) -> bool:
        """Whether all values of a mask have a name or are nothing."""
        return mask in self.contents and not self._unknown(mask)

    def _unknown(self, mask: str) -> list[str]:
        """The values of a mask that have no name, and are not nothing."""
        content = self.contents[mask]
        return [
            _text(content, region)
            for region in content.regions
            if not self._look_up(mask, region)[0]
        ]

    def _look_up(self, mask: str, region: Region) -> tuple[bool, str | None]:
        """Whether a value is known, and its name."""
        content = self.contents[mask]
        if self._uses_colours[mask]:
            return True, self.names.by_colour.get(_colour(content, region) or 0)

        value = region.value
        if content.is_colour:
            channels = {value >> 16, value >> 8 & 255, value & 255}
            if len(channels) > 1:
                return False, None
            value &= 255
        value, by_value = self.names.kind(value), self.names.by_value
        if value in by_value:
            return True, by_value[value]
        named = by_value.keys() - {0}
        if value in _WHITES and self._is_binary and len(named) == 1 and named <= _WHITES:
            return True, by_value[named.pop()]
        is_nothing = value == 0 or (value == NOTHING and not self._is_binary)
        return is_nothing, None

    def report(self, problems: Problems) -> None:
        """Report masks with values that have no name, with all such values.

        Raises
        ------
        InputError
            There is one, and malformed records are not skipped.
        """
        masks = list(filterfalse(self.are_known, self.contents))
        unknown = set(chain.from_iterable(map(self._unknown, masks)))
        shown = _join_values(unknown)
        for number, mask in enumerate(masks):
            problems.record(
                mask,
                f"has values that {self.names.source} does not name ({shown} in all such masks)",
                "Name these, or call them void",
                len(masks) - 1 - number,
            )

    def notes(self, path: object) -> Iterator[str]:
        """Say where names are from, and which values are nothing."""
        yield f"{path}: the values of masks are named by {self.names.source}"
        names = {**self.names.by_value, **self.names.by_colour}
        nothing = Counter[str]()
        for mask, content in self.contents.items():
            for region in content.regions:
                if self.name(mask, region) is None:
                    nothing[_text(content, region)] += 1
        if nothing and names:
            yield f"{path}: {_join_values(nothing)} in masks is background or void, and no concept"


def _colour(content: MaskContent, region: Region) -> int | None:
    """Colour of a region: of its pixels, or of its palette's index; a grey of a single channel."""
    if content.is_colour:
        return region.value
    if region.colour is not None:
        return region.colour
    if region.value < 256:
        return region.value * 0x10101
    return None


def _text(content: MaskContent, region: Region) -> str:
    """A value as people write it: a number, or a colour's channels."""
    if not content.is_colour:
        return str(region.value)
    return f"{region.value >> 16},{region.value >> 8 & 255},{region.value & 255}"


def _join_values(values: Mapping[str, int] | set[str]) -> str:
    """Some of many values, in their order."""
    ordered = sorted(values, key=lambda text: (list(map(int, text.split(","))), text))
    shown = "; ".join(ordered[:_SHOWN])
    if "," not in shown:
        shown = shown.replace(";", ",")
    if len(ordered) > _SHOWN:
        shown += f" and {len(ordered) - _SHOWN} more"
    return shown


def _read_masks(
    tree: FileTree, masks: Masks, problems: Problems, progress: Progress
) -> dict[str, MaskContent]:
    """Read the masks that are not in the cache; malformed ones are reported and left out."""
    cache = MaskCache(tree)
    contents = dict[str, MaskContent]()
    names = list(chain.from_iterable(masks.of_image.values()))
    try:
        for _, name in track(progress, "read masks", names, 16):
            content = cache.get(name)
            if content is None:
                content = _read_mask(tree, name, problems)
                if content is None:
                    continue
                cache.add(name, content)
            contents[name] = content
    finally:
        cache.flush()
    return contents


def _read_mask(tree: FileTree, name: str, problems: Problems) -> MaskContent | None:
    """Read a mask; a malformed one is reported, and None."""
    try:
        label_map = read_label_map(tree.read(name, MAX_BYTES))
        regions = label_regions(label_map.labels)
    except (ImageFileError, SegmentationError) as error:
        reason = f"cannot be read as a mask ({str(error).rstrip('.')})"
        problems.record(name, reason, "Save it as a PNG of labels")
        return None

    height, width = label_map.labels.shape
    colours = map(label_map.palette.get, map(attrgetter("value"), regions))
    colour_of = dict(zip(regions, colours, strict=True))
    content = [
        Region(region.value, colour, region.area_px2, region.box, region.segmentation)
        for region, colour in colour_of.items()
    ]
    return MaskContent(width, height, label_map.is_colour, content)


def _splits(tree: FileTree, images: Sequence[str]) -> dict[str, str | None]:
    """Split of each image: of VOC's lists, else of its folders."""
    listed = dict[str, str]()
    for name in tree.below("", *_LISTS):
        for line in tree.lines(name):
            if line.strip():
                listed[line.split(maxsplit=1)[0]] = PurePosixPath(name).stem

    folders = split_folders(map(posixpath.dirname, images))
    split_of = dict[str, str | None]()
    for image in images:
        by_folder = split_within(posixpath.dirname(image), folders)
        split_of[image] = listed.get(PurePosixPath(image).stem, by_folder)
    return split_of


def _left_out(tree: FileTree, masks: Masks) -> Iterator[str]:
    """Say how many images have no mask, or that there are no images."""
    if not masks.images:
        yield f"{tree.path}: has masks alone, and none of the images that they are drawn of"
    else:
        lacking = len(masks.images) - len(masks.of_image)
        if lacking:
            n = inflect(lacking, "images")
            yield f"{tree.path}: {n} without a mask left out, as nobody says what they show"


def _without_names(tree: FileTree, masks: Masks, problems: Problems) -> InputError:
    """The error for masks whose values nobody names, with the values of some."""
    values = set[str]()
    sampled = islice(chain.from_iterable(masks.of_image.values()), _SAMPLED)
    for mask in sampled:
        content = _read_mask(tree, mask, problems)
        if content is not None:
            values.update(map(partial(_text, content), content.regions))

    places = ", ".join(masks.folders[:3])
    example = next(iter(sorted(values - {"0", "0,0,0"})), "1")
    if "," in example:
        example = "#{:02x}{:02x}{:02x}".format(*map(int, example.split(",")))
    words = "concepts"
    if len(values) < 3:
        words = "a concept"
    return problems.fatal(
        f"has masks in {places} whose values ({_join_values(values)}) nobody names",
        (
            f"Name {words}: set ",
            Setting("names"),
            f" to masks:{example}=road or to masks=FILE, or put class_names.txt with a name a line "
            "there; for the images alone, set ",
            Setting("input_format", "image-folder"),
            ".",
        ),
    )


PLUGIN = format_of("semantic-masks", SemanticMasks())
