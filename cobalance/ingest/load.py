"""Read an annotation file: detect its format, read it, and filter it."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from cobalance.base import (
    Annotations,
    BoolArray,
    InputError,
    OptionError,
    Part,
    Progress,
    Setting,
    Text,
    UnknownNameError,
    clean_name,
    inflect,
    log_run,
    shorten_list,
    silent,
)
from cobalance.ingest.captions import with_captions
from cobalance.ingest.concepts import apply_concept_table, read_concept_table
from cobalance.ingest.fields import apply_fields, with_code_files, with_saved
from cobalance.ingest.formats import FORMATS
from cobalance.ingest.formats.table import read_table
from cobalance.ingest.frames import drop_zeros
from cobalance.ingest.joins import with_joins
from cobalance.ingest.masks.label_names import COLUMN as MASKS
from cobalance.ingest.masks.pairs import masks_in
from cobalance.ingest.names import Coded, categorical, put_before, rename_some
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.parts import find_parts, read_parts
from cobalance.ingest.paths import parse_pattern, with_folders, with_paths
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import (
    NAME_ANNOTATIONS,
    Reader,
    TreeReader,
    foreign_fault,
    read_head,
)
from cobalance.ingest.split_lists import with_split_lists
from cobalance.ingest.tables.data_frame import load_frame, one_row_per_image, with_id
from cobalance.ingest.trees import FileTree, is_tree, open_tree
from cobalance.ingest.unknown import first_document, unknown_format
from cobalance.vision import IMAGE_ENDINGS

_WITHOUT_LABELS: Text = (
    "Put them into a folder for each class, set ",
    Setting("path_pattern"),
    ", or write a CSV file with the columns image, class and concepts and a line for each image, "
    "such as: cat/1.jpg,cat,sofa|lamp.",
)


@log_run
def read_annotations(
    path: Path | str,
    options: ReadOptions | None = None,
    input_format: str | None = None,
    progress: Progress = silent,
) -> Annotations:
    """Read an annotation file of any known format.

    Parameters
    ----------
    path : Path or str
        The file; for some formats a folder, or a ZIP or uncompressed tar archive.
    options : ReadOptions or None
        How to read the file, and what to keep; None for the defaults.
    input_format : str or None
        A name in `FORMATS`; None detects it from the content.
    progress : callable
        Called with a stage, the amount done and the total.

    Raises
    ------
    InputError
        The file, a record in it, or a second file cannot be used, or no image is left.
    OptionError
        An option does not apply to the format, or names something that is missing.
    """
    path = Path(path)
    options = with_code_files(options or ReadOptions())
    if options.by_name:
        options = with_saved(path, options)
    # A faulty pattern is an error before the file is read.
    if options.path_pattern is not None:
        parse_pattern(options.path_pattern)
    name = input_format or detect_format(path, options)
    reader = FORMATS[name].reader
    _check_uses(reader, name, options)

    in_folders = "folders" in reader.uses
    if is_tree(path):
        with open_tree(path) as tree:
            if isinstance(reader, TreeReader):
                annotations = reader.read_tree(tree, options, progress)
                if in_folders:
                    annotations = with_split_lists(_note_foreign(annotations, tree), tree)
            else:
                annotations = read_parts(tree, name, options, progress)
                in_folders = "table" in reader.uses
            annotations = _note_masks(annotations, tree)
    else:
        if input_format is not None and not isinstance(reader, TreeReader):
            read_head(path)
        annotations = reader.read(path, options, progress)
    return _finish(annotations, options, str(path), progress, in_folders=in_folders)


def read_frame(
    frame: pd.DataFrame,
    options: ReadOptions | None = None,
    *,
    concept_column: str | int | None = None,
    name: str = "frame",
    progress: Progress = silent,
) -> Annotations:
    """Read annotations from a pandas frame, as `read_annotations` reads a table in a file.

    Parameters
    ----------
    concept_column : str or None
        Column of concepts in a frame with a row per image and concept; None for a frame with a
        row per image.
    name : str
        Name of the frame in messages.

    Raises
    ------
    InputError, OptionError
        As `read_annotations`.
    """
    options = with_code_files(options or ReadOptions())
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    if concept_column is not None:
        frame, options = one_row_per_image(frame, str(concept_column), options)
    frame, options = with_id(frame, options)

    annotations = read_table(load_frame(frame, Problems(name, options)), options, progress)
    return _finish(annotations, options, name, progress)


def _note_masks(annotations: Annotations, tree: FileTree) -> Annotations:
    """Say which pictures beside the images are masks, where the reader has no use for them."""
    masks = masks_in(tree)
    note = masks.note(tree.path)
    says_so = any(" are masks or the like" in other for other in annotations.notes)
    if not masks.drawn or says_so or not masks.drawn.isdisjoint(annotations.images["uri"]):
        return annotations
    return replace(annotations, notes=(*annotations.notes, note))


def _finish(
    annotations: Annotations,
    options: ReadOptions,
    file: str,
    progress: Progress,
    *,
    in_folders: bool = False,
) -> Annotations:
    """Add metadata of paths and other files, make concepts of it, and filter."""
    annotations = with_paths(annotations, options, file)
    annotations = with_joins(annotations, options, file, progress)
    if options.path_pattern is None and options.class_column is None:
        annotations = with_folders(annotations, file, taken=in_folders)

    annotations = refine(apply_fields(annotations, options, file), options, file)
    if annotations.images.empty:
        raise InputError(file, None, _nothing_left(annotations), "Ask for less, or correct it.")

    return with_captions(annotations, options, file, progress)


def detect_format(path: Path, options: ReadOptions | None = None) -> str:
    """Detect the format of a file, a folder or an archive from its content, not its name.

    A folder of images alone is one where the options say more of them.

    Raises
    ------
    InputError
        It cannot be read, or no reader knows it; the message lists the formats.
    """
    if is_tree(path):
        with open_tree(path) as tree:
            name = detect_tree(tree)
            says_more = options is not None and (options.path_pattern or options.join)
            if name is None and says_more and tree.below("", *IMAGE_ENDINGS):
                name = "image-folder"
            # Who names the values of masks wants them read, and not the folders of their images.
            if name == "image-folder" and options is not None and MASKS in options.names:
                name = "semantic-masks"
            if name is None:
                _refuse_foreign(tree)
        if name is not None:
            return name

    head = read_head(path)
    for name, form in FORMATS.items():
        if form.reader.detects(path, head):
            return name
    raise unknown_format(path, str(path))


def _note_foreign(annotations: Annotations, tree: FileTree) -> Annotations:
    """Say which files beside folders of images no reader takes: they may have the annotations."""
    files = list(filter(foreign_fault, tree.names))
    if not files:
        return annotations

    note = f"{tree.path}: not read, as no reader knows its kind: {shorten_list(files)}"
    return replace(annotations, notes=(*annotations.notes, note))


def _refuse_foreign(tree: FileTree) -> None:
    """Raise for a folder or an archive with files that no reader takes, or JSON unknown to all."""
    for file in tree.names:
        fault = foreign_fault(file)
        if fault is not None:
            raise InputError(f"{tree.path}/{file}", None, *fault)

    n_pictures = len(tree.below("", *IMAGE_ENDINGS))
    document = first_document(tree)
    if n_pictures and document is None:
        number = inflect(n_pictures, "pictures")
        reason = f"has {number}, and neither folders nor a file that says what they show"
        raise InputError(str(tree.path), None, reason, _WITHOUT_LABELS)

    if document is not None:
        with tree.local(document) as copy:
            raise unknown_format(copy, f"{tree.path}/{document}")

    if tree.path.is_dir() and tree.names:
        reason = f"is a folder without annotations of a known format: {shorten_list(tree.names)}"
        raise InputError(str(tree.path), None, reason, NAME_ANNOTATIONS)


def detect_tree(tree: FileTree) -> str | None:
    """Detect the format of an open folder or archive, or of its files; None if none is known.

    Raises
    ------
    InputError
        Annotations in it are of no known format.
    """
    for name, form in FORMATS.items():
        if isinstance(form.reader, TreeReader) and form.reader.detects_tree(tree):
            return name
    return next(iter(find_parts(tree)), None)


def _check_uses(reader: Reader, name: str, options: ReadOptions) -> None:
    """Refuse options that the format would ignore."""
    options_by_use: dict[str, tuple[list[Part], bool]] = {
        "table": (["options about a table's columns"], options.about_columns),
        "categories": ([Setting("class_category")], bool(options.class_category)),
        "vocabulary": ([Setting("vocabulary")], bool(options.vocabulary)),
        "own captions": (
            [Setting("class_words"), " without ", Setting("class_captions")],
            options.searches_own_captions,
        ),
    }

    for use, (option, is_set) in options_by_use.items():
        if is_set and use not in reader.uses:
            takers = [other for other, form in FORMATS.items() if use in form.reader.uses]
            raise OptionError(
                f"A file of the format {name} makes no use of ",
                *option,
                ". Leave that out, or choose another ",
                Setting("input_format"),
                f" ({', '.join(takers)}).",
            )


def refine(annotations: Annotations, options: ReadOptions, file: str) -> Annotations:
    """Rename and filter concepts, classes and images as the options say.

    Order: rename concepts, drop mentions by score and area, rename classes, set images aside by
    class and by split.

    Raises
    ------
    InputError
        The concept table cannot be used.
    UnknownNameError
        There is no such class or split.
    """
    problems = Problems(str(options.concept_table), options)
    mentions = annotations.mentions
    if options.concept_table is not None:
        table = read_concept_table(options.concept_table, problems)
        concepts = apply_concept_table(_to_coded(mentions["concept"]), table, problems)
        mentions = mentions.assign(concept=categorical(concepts.codes, concepts.names))
    is_selected, notes = _select_mentions(mentions, options)
    images = annotations.images
    if options.rename_class:
        images = images.assign(class_name=_rename_classes(images["class_name"], options))

    # An image of another class and another split counts once, by its class.
    by_class = _among(images["class_name"], options.keep_class, "class")
    by_split = _among(images["split"], options.keep_split, "split")
    set_aside = Counter(annotations.set_aside)
    set_aside["images of other classes"] += int((~by_class).sum())
    set_aside["images of other splits"] += int((by_class & ~by_split).sum())

    refined = replace(
        annotations,
        images=images,
        mentions=mentions if is_selected.all() else mentions[is_selected],
        set_aside=drop_zeros(set_aside),
        skipped=(*annotations.skipped, *problems.messages),
        notes=(*annotations.notes, *put_before(file, notes)),
    )
    is_kept = by_class & by_split
    # Taking all rows would copy columns of millions of mentions.
    if is_kept.all() and is_selected.all():
        return refined
    return refined.take(np.flatnonzero(is_kept))


def _select_mentions(mentions: pd.DataFrame, options: ReadOptions) -> tuple[BoolArray, list[str]]:
    """Whether each mention is of a concept, sure and large enough, and notes on the others."""
    selected = mentions["concept"].notna().to_numpy()
    notes = []
    if not selected.all():
        notes.append(f"{inflect((~selected).sum(), 'mentions')} of dropped concepts left out")

    if options.min_score is not None:
        low = selected & (mentions["score"] < options.min_score).to_numpy()
        notes.append(f"{low.sum():,} mentions with a score below {options.min_score:g} left out")
        selected = selected & ~low
    if options.min_area_px2 is not None:
        # Some tools write an area of 0 where they have not measured it.
        measured = mentions["area_px2"].where(mentions["area_px2"] > 0)
        area = measured.fillna(mentions["w_px"] * mentions["h_px"]).fillna(mentions["area_px2"])
        small = selected & (area < options.min_area_px2).to_numpy()
        notes.append(f"{small.sum():,} mentions smaller than {options.min_area_px2:g} px² left out")
        selected = selected & ~small
    return selected, notes


def _rename_classes(classes: "pd.Series[str]", options: ReadOptions) -> pd.Categorical:
    column = _to_coded(classes)
    new_name = {clean_name(old): clean_name(new) for old, new in options.rename_class.items()}
    for old in new_name:
        if old not in column.names:
            raise UnknownNameError("class", old, column.names)

    renamed = rename_some(column.names, new_name)
    names = sorted({*renamed})
    code = np.array(list(map(names.index, renamed)), dtype=np.int64)
    return categorical(code[column.codes], names)


def _among(column: "pd.Series[str]", wanted: tuple[str, ...], kind: str) -> BoolArray:
    """Whether a class or split is one of those wanted; all are if there are none."""
    names_here = column.cat.categories.tolist()
    names = list(map(clean_name, wanted))
    for name in names:
        if name not in names_here:
            raise UnknownNameError(kind, name, names_here)
    if not names:
        return np.ones(len(column), dtype=bool)
    return column.isin(names).to_numpy()


def _to_coded(column: "pd.Series[str]") -> Coded:
    return Coded(column.cat.codes.to_numpy().astype(np.int64), tuple(column.cat.categories))


def _nothing_left(annotations: Annotations) -> str:
    reasons = [f"{count:,} {reason}" for reason, count in annotations.set_aside.items()]
    if annotations.skipped:
        reasons.append(f"{inflect(len(annotations.skipped), 'malformed records')} skipped")
    return f"no image is left ({'; '.join(reasons) or 'there was none'})"
