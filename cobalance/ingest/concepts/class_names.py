"""Classes of images from categories or from captions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.base import IntArray, Progress, UnknownNameError, clean_name
from cobalance.ingest.coco import read_captions
from cobalance.ingest.concepts.word_lists import load_word_list
from cobalance.ingest.fields import NO_CLASS
from cobalance.ingest.frames import ImageColumns, Labels, MentionColumns
from cobalance.ingest.names import Coded
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, first_rows
from cobalance.ingest.reader import read_head

DEFAULT_WORDS = "coco-gb"
UNCLASSED = f"nothing names classes, {NO_CLASS}"


def labels_beside(
    columns: ImageColumns,
    options: ReadOptions,
    problems: Problems,
    progress: Progress,
) -> tuple[Labels, tuple[str, ...]]:
    """Read classes from captions in a second file, with notes.

    Images have no class where no option names such a file; they may be given one later.

    Raises
    ------
    InputError
        The second file cannot be used.
    """
    if options.class_captions is not None:
        return labels_from_captions(
            options.class_captions, columns, options, problems, progress
        ), ()
    notes = () if options.class_column else (f"{problems.file}: {UNCLASSED}",)
    return Labels.none(len(columns.ids)), notes


def labels_of_objects(
    columns: ImageColumns,
    mentions: MentionColumns,
    options: ReadOptions,
    problems: Problems,
    progress: Progress,
) -> tuple[Labels, MentionColumns, MentionColumns, tuple[str, ...]]:
    """Classes of images that have objects and no class: from categories, a second file, or none.

    Parameters
    ----------
    mentions : MentionColumns
        The objects; their concepts are their categories.

    Returns
    -------
    labels : Labels
        Class of each image.
    concepts, objects : MentionColumns
        Objects whose categories are concepts, and those whose categories are classes; without such
        categories all are concepts.
    notes : tuple of str
        About the second file.

    Raises
    ------
    InputError, UnknownNameError
        As `labels_beside` and `labels_from_categories`.
    """
    notes: tuple[str, ...] = ()
    if options.class_category:
        labels, concept, objects = labels_from_categories(
            mentions.image, mentions.concept, options.class_category, len(columns.ids)
        )
    else:
        labels, notes = labels_beside(columns, options, problems, progress)
        concept, objects = mentions.concept, Coded.none(len(mentions.image))
    return labels, replace(mentions, concept=concept), replace(mentions, concept=objects), notes


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
    # A pair of an image and a class is one number; several mentions of a class count once.
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
    category_class = pd.Index(list(map(class_of.get, category.names)), dtype=object)
    code = pd.Index(names, dtype=object).get_indexer(category_class)
    objects = Coded(np.append(code, -1)[category.codes], names)

    labels = labels_from_mentions(
        image,
        objects,
        n_images,
        "images that show none of the class categories",
        "images that show categories of more than one class",
    )
    return labels, Coded(np.where(objects.codes < 0, category.codes, -1), category.names), objects


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
    index = pd.Index(ids.to_pandas())
    first = first_rows(index)
    # Of an id that is there twice, which its reader reports, the first image counts.
    unique = np.flatnonzero(first == np.arange(len(index)))
    position = _image_positions(index[unique], captions.columns.ids, captions.columns.uris)
    image = np.append(unique, -1)[position][captions.image]

    if len(ids) and (image < 0).all():
        raise beside.fatal(
            f"has captions of none of the images of {problems.file}",
            "Give each image the same id or file name in both files.",
        )
    known_rows = np.flatnonzero(image >= 0)
    known_texts = [texts[row] for row in known_rows.tolist()]
    return labels_from_texts(image[known_rows], known_texts, len(ids), options, beside, progress)


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


def _image_positions(known: "pd.Index[str]", ids: pa.Array, uris: pa.Array) -> IntArray:
    """Find images in another file's `known` ids: by id, else by file name with or without folder.

    Returns
    -------
    int64 array
        Positions in `known`, -1 for none.
    """
    position = known.get_indexer(pd.Index(ids.to_pandas()))

    # An id that is there is the image, whatever its file is called.
    paths = uris.to_pandas()
    for keys in (paths, paths.str.rsplit("/", n=1).str[-1]):
        position = np.where(position < 0, known.get_indexer(pd.Index(keys)), position)
    return position.astype(np.int64)
