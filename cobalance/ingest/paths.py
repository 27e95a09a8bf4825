"""Classes, splits and metadata that the paths of images name."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import Annotations, Metadata, OptionError, Setting, clean_name, shorten_list
from cobalance.ingest.fields import has_classes, with_class, with_split
from cobalance.ingest.frames import TEXT, take_cells
from cobalance.ingest.names import (
    NameColumn,
    categorical,
    class_parts,
    encode_names,
    name_fault,
    put_before,
    split_folders,
    usual_splits,
)
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, RowProblems

_PART = re.compile(r"\{[^{}/]*\}|\*\*/|\*+|#|[{}]|[^{}*#]+")
_SHOWN = 3  # names of folders in a note
_MANY = 20  # images, from which a folder for each of them is no class
_LONG = 4  # characters of a name that is no code
_ANY = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "#": r"\d+"}
_RANKS = {"class", "label", "category", "grade", "type", "stage", "level"}
"""Words before the numbers of classes; others, as in study1, number what is no class."""
_WORDNET = re.compile(r"n\d{8}")


def parse_pattern(pattern: str) -> tuple[str, tuple[str, ...]]:
    r"""Regular expression of a path pattern, and the name of each of its groups.

    Raises
    ------
    OptionError
        It names nothing, or a brace has no partner.

    Examples
    --------
    >>> parse_pattern("{class}/**/{age}_*")
    ('(?:^|/)(?P<g0>[^/]+?)/(?:.*/)?(?P<g1>[^/]+?)_[^/]*$', ('class', 'age'))
    """
    names = list[str]()
    regex = "(?:^|/)"
    for part in _PART.findall(pattern):
        name = clean_name(part[1:-1])
        if part[0] not in "{}":
            regex += _ANY.get(part) or re.escape(part)
        elif len(part) > 2 and name_fault(name) is None:
            regex += f"(?P<g{len(names)}>[^/]+?)"
            names.append(name)
        else:
            names = []
            break

    if not names:
        raise OptionError(
            Setting("path_pattern", pattern),
            ' names no part of a path. Write names in braces, such as "{context}/{class}/*".',
        )
    return f"{regex}$", tuple(names)


def with_paths(annotations: Annotations, options: ReadOptions, file: str) -> Annotations:
    """Add metadata that `ReadOptions.path_pattern` reads off the path of each image.

    A pattern stands for the end of a path: folders before it do not matter.

    Raises
    ------
    InputError
        A path does not match.
    """
    pattern = options.path_pattern
    if pattern is None:
        return annotations
    regex, names = parse_pattern(pattern)
    paths = _paths(annotations)
    match = pc.extract_regex(paths, regex)
    groups = list(map(match.field, range(len(names))))
    columns = dict(zip(names, groups, strict=True))

    # A name that is twice in the pattern stands for the same text in both places.
    is_sound = match.is_valid()
    for name, group in zip(names, groups, strict=True):
        is_sound = pc.and_(is_sound, pc.equal(columns[name], group))
    problems = Problems(file, options)
    ids = annotations.images["id"]
    rows = RowProblems(problems, len(ids), lambda row: f"image {ids[row]!r}")
    rows.report(
        ~is_sound.to_numpy(zero_copy_only=False),
        lambda row: f"its path {paths[row].as_py()!r} does not match {pattern!r}",
        ("Correct the pattern: it is of the end of a path, and * is any text of one level"),
    )

    sound_rows = np.flatnonzero(~rows.bad)
    columns = take_cells(columns, sound_rows)
    annotations = annotations.take(sound_rows)
    annotations = replace(annotations, skipped=(*annotations.skipped, *problems.messages))
    return _with_columns(annotations, columns)


def _with_columns(annotations: Annotations, columns: dict[str, pa.Array]) -> Annotations:
    """Take the columns of an image each for its class, split, cluster and metadata."""
    others = columns.copy()
    for role in ("class", "split", "cluster"):
        others.pop(role, None)
    metadata = Metadata(np.arange(len(annotations.images)), others)
    annotations = replace(annotations, metadata=(*annotations.metadata, metadata))

    if "split" in columns:
        annotations = with_split(annotations, usual_splits(encode_names(columns["split"])))
    if "cluster" in columns:
        column = encode_names(columns["cluster"])
        clusters = categorical(column.codes, column.names)
        annotations = replace(annotations, images=annotations.images.assign(cluster=clusters))
    # Images without a class are set aside, so that classes come after all else.
    if "class" in columns:
        annotations = with_class(
            annotations, encode_names(columns["class"]), "images without a class"
        )
    return annotations


def _paths(annotations: Annotations) -> pa.Array:
    """The address of each image, or its id."""
    images = annotations.images
    paths = pa.array(images["uri"].fillna(images["id"]).astype(object), TEXT)
    return pc.replace_substring(paths, "\\", "/")


def with_folders(annotations: Annotations, file: str, *, taken: bool) -> Annotations:
    """Take the classes of images without any from their folders, and note other levels.

    The class is the lowest level with names like those of classes: numbered names (``study1``), a
    folder for each image and a level of one name are none. Where not `taken` it is noted alone.
    """
    if has_classes(annotations):
        return annotations
    folders = [path.rpartition("/")[0] for path in _paths(annotations).to_pylist()]
    images = Counter(folders)
    parts = _class_parts(images)
    nested = _nested_classes(parts)
    if nested is not None:
        column = encode_names(pa.array(list(map(nested.get, folders)), TEXT))
        return _with_nested(annotations, column, file, taken=taken)

    levels = list(zip_longest(*parts.values()))
    depths = _class_depths(parts, images)
    if not depths:
        return annotations

    lowest, *higher = depths
    class_of = dict(zip(parts, levels[lowest], strict=True))
    column = encode_names(pa.array(list(map(class_of.get, folders)), TEXT))
    words = "classes may be"
    if taken:
        annotations = with_class(annotations, column, "images without a class")
        words = "classes are"
    notes = [_note(words, column.names, {lowest: "class"})]

    for depth in higher:
        pairs = set(filter(all, zip(levels[lowest], levels[depth], strict=True)))
        names = {str(name) for _, name in pairs}
        # A class that is in several of the higher folders is seen in several contexts.
        if len(pairs) > len({class_name for class_name, _ in pairs}):
            notes.append(_note("their contexts are", names, {depth: "context", lowest: "class"}))
            notes.append(_note("or the classes are", names, {depth: "class", lowest: "context"}))
        else:
            notes.append(_note("above the classes are", names, {depth: "group", lowest: "class"}))
    return replace(annotations, notes=(*annotations.notes, *put_before(file, notes)))


def are_classes(folders: Iterable[str]) -> bool:
    """Whether one level of the folders of images, one for each image, has names of classes."""
    images = Counter(folders)
    parts = _class_parts(images)
    return _nested_classes(parts) is not None or bool(_class_depths(parts, images))


def _class_parts(folders: Collection[str]) -> dict[str, list[str | None]]:
    """Names of each folder and those above it, without splits."""
    splits = split_folders(folders)
    return {folder: class_parts(folder, splits) for folder in folders}


def _class_depths(
    parts: Mapping[str, Sequence[str | None]], images: Mapping[str, int]
) -> list[int]:
    """Levels with names of classes, from the lowest on."""
    levels = zip_longest(*parts.values())
    return [n for n, level in enumerate(levels) if _are_classes(level, images.values())]


def _nested_classes(parts: Mapping[str, Sequence[str | None]]) -> dict[str, str] | None:
    """Classes of one and of two levels, such as abbey and church/outdoor; None for others.

    What lies in both levels under one name is of that class wherever it is, and what has images
    beside further folders is no level of classes.
    """
    paths = dict[str, list[str]]()
    for folder, names in parts.items():
        path = list(filter(None, reversed(names)))
        if path:
            paths[folder] = path
    while paths and min(map(len, paths.values())) > 1:
        above, *others = map(set, islice(zip(*paths.values(), strict=False), 2))
        # SUN397 and Places365 have a folder for each first letter.
        first_letters = {name[0].lower() for name in others[0]}
        are_letters = above == first_letters
        if not (len(above) == 1 or are_letters):
            return None
        for path in paths.values():
            del path[0]

    single, deep = set[str](), set[str]()
    for path in paths.values():
        if len(path) > 2:
            return None
        target = single if len(path) == 1 else deep
        target.update(path)
    are_words = all(map(re.compile("[A-Za-z]{2}").search, single | deep))
    if single & deep or not deep or not are_words or len(single) < 2:
        return None
    return dict(zip(paths, map("/".join, paths.values()), strict=True))


def _with_nested(
    annotations: Annotations, column: NameColumn, file: str, *, taken: bool
) -> Annotations:
    """Take classes of one or two levels, or note them."""
    words = "classes may be"
    if taken:
        annotations = with_class(annotations, column, "images without a class")
        words = "classes are"
    deep = filter(re.compile("/").search, column.names)
    shown = shorten_list(sorted(deep), _SHOWN)
    note = (
        f"{words} folders of one or two levels, such as {shown}: for the lowest alone the path "
        'pattern is "{class}/*"'
    )
    return replace(annotations, notes=(*annotations.notes, f"{file}: {note}"))


def _are_classes(level: Sequence[str | None], images: Iterable[int]) -> bool:
    """Whether the folders of a level, with as many images, are called as classes are."""
    counts = Counter[str]()
    for name, n in zip(level, images, strict=True):
        counts[name or ""] += n
    del counts[""]
    if len(counts) < 2:
        return False
    is_per_image = 2 * len(counts) > counts.total()
    forms = {re.sub(r"\d+", "#", name) for name in counts}
    if len(forms) > 1:
        return not (is_per_image and counts.total() > _MANY)

    # The names differ in their numbers alone: of classes they are short, as c0 and c1 are, or have
    # a word for classes or an id of WordNet before them.
    is_short = max(map(len, counts)) < _LONG
    word = re.sub("[^a-z]", "", min(forms).lower())
    if not word:
        return is_short or not is_per_image
    is_code = is_short and len(word) == 1
    return word in _RANKS or is_code or all(map(_WORDNET.fullmatch, counts))


def _note(words: str, names: Iterable[str], roles: Mapping[int, str]) -> str:
    """Say which folders are taken for what, and the path pattern that says so."""
    levels = range(max(roles), -1, -1)
    parts = [f"{{{roles[level]}}}" if level in roles else "*" for level in levels]
    pattern = "/".join([*parts, "*"])
    folders = shorten_list(sorted(names), _SHOWN)
    return f'{words} the folders {folders}: the path pattern is "{pattern}"'
