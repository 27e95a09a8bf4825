"""Classes of images from a second file or from captions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.graph.arrays import IntArray
from cobalance.graph.errors import Setting, UnknownNameError
from cobalance.graph.names import clean_name
from cobalance.graph.progress import Progress
from cobalance.ingest.coco.image_columns import read_captions
from cobalance.ingest.concepts.word_lists import load_word_list
from cobalance.ingest.frames import ImageColumns, Labels
from cobalance.ingest.names import Coded, encode_names
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, first_rows
from cobalance.ingest.reader import read_head
from cobalance.ingest.tables import TABLES
from cobalance.ingest.tables.columns import map_columns, shorten_list, text_column

DEFAULT_WORDS = "coco-gb"
UNCLASSED = "nothing says which class an image has: no image has one"


def labels_beside(
    columns: ImageColumns,
    options: ReadOptions,
    problems: Problems,
    progress: Progress,
) -> tuple[Labels, tuple[str, ...]]:
    """Read classes from a second file, a table or captions, with notes about it.

    Images have no class where no option names such a file.

    Raises
    ------
    InputError
        The second file cannot be used.
    """
    if options.class_file is not None:
        path = options.class_file
        labels, taken = labels_from_file(path, columns, problems, progress)
        return labels, (f"{path}: {', '.join(taken)}",)
    if options.class_captions is not None:
        path = options.class_captions
        return labels_from_captions(path, columns, options, problems, progress), ()
    told = () if options.class_column else (f"{problems.file}: {UNCLASSED}",)
    return Labels.none(len(columns.ids)), told


def labels_of_objects(
    columns: ImageColumns,
    image: IntArray,
    category: Coded,
    options: ReadOptions,
    problems: Problems,
    progress: Progress,
) -> tuple[Labels, Coded, Coded, tuple[str, ...]]:
    """Classes of images that have objects and no class: from categories, a second file, or none.

    Parameters
    ----------
    image : int64 array
        Row of each object's image.
    category : Coded
        Category of each object.

    Returns
    -------
    labels, concept, objects
        As of `labels_from_categories`; without such categories all objects are concepts.
    notes : tuple of str
        About the second file.

    Raises
    ------
    InputError, UnknownNameError
        As `labels_beside` and `labels_from_categories`.
    """
    classes = options.class_category
    if classes:
        return (*labels_from_categories(image, category, classes, len(columns.ids)), ())
    labels, notes = labels_beside(columns, options, problems, progress)
    return labels, category, Coded(np.full(len(image), -1), ()), notes


def labels_from_mentions(
    image: IntArray, column: Coded, n_images: int, none: str, many: str
) -> Labels:
    """Assign each image the only class that its mentions name; set other images aside.

    Parameters
    ----------
    image : int64 array
        Row of each mention's image.
    column : Coded
        Class named by each mention, -1 for none.
    none, many : str
        Reasons to set aside images without a class, and with more than one.

    Examples
    --------
    >>> named = Coded(np.array([0, 0, 1, -1, 0]), ("man", "woman"))
    >>> labels = labels_from_mentions(np.array([0, 0, 1, 2, 1]), named, 3, "none", "both")
    >>> labels.column.codes.tolist(), labels.why.codes.tolist(), labels.why.names
    ([0, -1, -1], [-1, 1, 0], ('none', 'both'))
    """
    width = len(column.names)
    named = column.codes >= 0
    pairs = np.unique(image[named] * width + column.codes[named])
    images, codes = np.divmod(pairs, max(width, 1))
    n_classes = np.bincount(images, minlength=n_images)
    result = np.full(n_images, -1, dtype=np.int64)
    result[images] = codes
    result[n_classes != 1] = -1
    why = np.select([n_classes == 0, n_classes > 1], [0, 1], -1)
    return Labels(Coded(result, column.names), Coded(why, (none, many)))


def labels_from_categories(
    image: IntArray, category: Coded, classes: Mapping[str, str], n_images: int
) -> tuple[Labels, Coded, Coded]:
    """Assign each image the only class that its categories define; such categories are no concepts.

    Parameters
    ----------
    image : int64 array
        Row of each mention's image.
    category : Coded
        Category of each mention.
    classes : mapping of str to str
        As `ReadOptions.class_category`.

    Returns
    -------
    labels : Labels
        Class of each image.
    concept, objects : Coded
        Concept and class of each mention; each has one or the other.

    Raises
    ------
    UnknownNameError
        There is no such category.
    """
    class_of = {clean_name(name): clean_name(class_) for name, class_ in classes.items()}
    for name in class_of:
        if name not in category.names:
            raise UnknownNameError("category", name, category.names)
    names = sorted(set(class_of.values()))
    code = [names.index(class_of[name]) if name in class_of else -1 for name in category.names]
    objects = Coded(np.array([*code, -1])[category.codes], names)
    labels = labels_from_mentions(
        image,
        objects,
        n_images,
        "images that show none of the class categories",
        "images that show categories of more than one class",
    )
    return labels, Coded(np.where(objects.codes < 0, category.codes, -1), category.names), objects


def labels_from_file(
    path: Path, columns: ImageColumns, problems: Problems, progress: Progress
) -> tuple[Labels, tuple[str, ...]]:
    """Look up each image's class in a second table, by id or else by file name.

    Returns
    -------
    labels : Labels
        Images missing from the table are set aside.
    guessed : tuple of str
        Columns used, as text for people.

    Raises
    ------
    InputError
        The table cannot be read, or has none of the images.
    """
    head = read_head(path)
    found = next((form for _, form in TABLES.items() if form.detects(path, head)), None)
    beside = problems.beside(str(path))
    if found is None:
        raise beside.fatal(
            f"is not a table in a known format ({', '.join(TABLES)})",
            "Write the columns image_id and label as CSV.",
        )
    table = found.load(path, beside, progress)
    if table.n_rows == 0:
        raise beside.fatal("has no rows", "Give it a row for each image.")
    ids = columns.ids
    of = dict(map_columns(table, ReadOptions(), ("id", "class")).of)
    if len(table.columns) == 2 and not of:
        of = dict(zip(("id", "class"), table.columns, strict=True))
    for role, name in (("id", "image_id"), ("class", "label")):
        if role not in of:
            raise beside.fatal(
                f"there is no column {name!r} (its columns: {shorten_list(table.columns)})",
                "Name the columns image_id and label.",
            )
    rows = table.rows()
    keys = text_column(table, of["id"], Setting("id_column"))
    names = encode_names(text_column(table, of["class"], Setting("class_column")))
    rows.report(names.codes < 0, lambda row: f"the class {names.fault(row)}", "Correct it")
    known = pd.Index(keys.to_pandas())
    repeated = known.duplicated()
    rows.report(
        repeated, lambda row: f"the image {known[row]!r} has a class already", "Leave one out"
    )
    sound = np.flatnonzero(~rows.bad)
    at = match_images(known[sound], ids, columns.uris)
    codes = np.append(names.codes[sound], -1)[at]
    if len(ids) and (codes < 0).all():
        raise beside.fatal(
            f"has none of the images of {problems.file}: it has {known[0]!r}, and there the first "
            f"is {ids[0].as_py()!r}",
            "Give each image the same id or file name in both files.",
        )
    why = Coded(np.where(codes < 0, 0, -1), (f"images without a class in {path.name}",))
    return Labels(Coded(codes, names.names), why), tuple(
        f"{role} = {name}" for role, name in of.items()
    )


def labels_from_captions(
    path: Path,
    columns: ImageColumns,
    options: ReadOptions,
    problems: Problems,
    progress: Progress,
) -> Labels:
    """Assign each image the only class named in its captions, from a COCO captions file."""
    ids, beside = columns.ids, problems.beside(str(path))
    read_head(path)
    captions, texts, _ = read_captions(path, None, beside, progress)
    known = pd.Index(ids.to_pandas())
    first = first_rows(known)
    unique = np.flatnonzero(first == np.arange(len(known)))
    there = match_images(known[unique], captions.columns.ids, captions.columns.uris)
    image = np.append(unique, -1)[there][captions.image]
    if len(ids) and (image < 0).all():
        raise beside.fatal(
            f"has captions of none of the images of {problems.file}",
            "Give each image the same id or file name in both files.",
        )
    kept = np.flatnonzero(image >= 0)
    known_texts = [texts[row] for row in kept.tolist()]
    return labels_from_texts(image[kept], known_texts, len(ids), options, beside, progress)


def labels_from_texts(
    image: IntArray,
    texts: Sequence[str | None],
    n_images: int,
    options: ReadOptions,
    problems: Problems,
    progress: Progress,
) -> Labels:
    """Assign each image the only class that its captions name."""
    words = load_word_list(options.class_words or DEFAULT_WORDS)
    rows, column = words.find_all(texts, problems, progress)
    return labels_from_mentions(
        image[rows],
        column,
        n_images,
        "images whose captions name no class",
        "images whose captions name more than one class",
    )


def match_images(known: "pd.Index[str]", ids: pa.Array, uris: pa.Array | None) -> IntArray:
    """Find images in another file's `known` ids: by id, else by file name with or without folder.

    Returns
    -------
    int64 array
        Positions in `known`, -1 for none.
    """
    at = known.get_indexer(pd.Index(ids.to_pandas()))
    if uris is not None:
        paths = uris.to_pandas()
        for keys in (paths, paths.str.rsplit("/", n=1).str[-1]):
            at = np.where(at < 0, known.get_indexer(pd.Index(keys)), at)
    return at.astype(np.int64)
