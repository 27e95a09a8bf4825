"""Classes, splits and metadata that the paths of images name."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base.errors import OptionError, Setting
from cobalance.base.names import clean_name
from cobalance.base.records import Annotations, Metadata
from cobalance.ingest.fields.roles import has_classes, with_class, with_split
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import (
    categorical,
    class_parts,
    encode_names,
    name_fault,
    split_folders,
    usual_splits,
)
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems, RowProblems
from cobalance.ingest.tables.columns import shorten_list

_PART = re.compile(r"\{[^{}/]*\}|\*\*/|\*+|#|[{}]|[^{}*#]+")
_ANY = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "#": r"\d+"}
_RANKS = {"class", "label", "category", "grade", "type", "stage", "level"}
"""Words before the numbers of classes; others, as in study1, number what is no class."""
_WORDNET = re.compile(r"n\d{8}")
_SHOWN, _MANY, _LONG = 3, 20, 4


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
        said = ' names no part of a path. Write names in braces, such as "{context}/{class}/*".'
        raise OptionError(Setting("path_pattern", pattern), said)
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
    found = pc.extract_regex(paths, regex)
    groups = [found.field(at) for at in range(len(names))]
    columns = dict(zip(names, groups, strict=True))
    sound = found.is_valid()
    for name, group in zip(names, groups, strict=True):
        sound = pc.and_(sound, pc.equal(columns[name], group))
    problems = Problems(file, options)
    ids = annotations.images["id"]
    rows = RowProblems(problems, len(ids), lambda row: f"image {ids[row]!r}")
    rows.report(
        ~sound.to_numpy(zero_copy_only=False),
        lambda row: f"its path {paths[row].as_py()!r} does not match {pattern!r}",
        ("Correct the pattern: it is of the end of a path, and * is any text of one level"),
    )
    kept = np.flatnonzero(~rows.bad)
    annotations = annotations.take(kept)
    columns = {name: column.take(pa.array(kept)) for name, column in columns.items()}
    if (split := columns.pop("split", None)) is not None:
        annotations = with_split(annotations, usual_splits(encode_names(split)))
    if (cluster := columns.pop("cluster", None)) is not None:
        given = encode_names(cluster)
        own = categorical(given.codes, given.names)
        annotations = replace(annotations, images=annotations.images.assign(cluster=own))
    others = {name: column for name, column in columns.items() if name != "class"}
    metadata = (*annotations.metadata, Metadata(np.arange(len(kept)), others))
    skipped = (*annotations.skipped, *problems.messages)
    annotations = replace(annotations, metadata=metadata, skipped=skipped)
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
    splits = split_folders(images)
    parts = {folder: class_parts(folder, splits) for folder in images}
    levels = list(zip_longest(*parts.values()))
    named = [at for at, level in enumerate(levels) if _are_classes(level, images.values())]
    notes: list[tuple[str, Iterable[str], Mapping[int, str]]] = []
    for at in named[:1]:
        of = dict(zip(parts, levels[at], strict=True))
        column = encode_names(pa.array([of[folder] for folder in folders], TEXT))
        if taken:
            annotations = with_class(annotations, column, "images without a class")
        notes.append(("classes are" if taken else "classes may be", column.names, {at: "class"}))
    for at in named[1:]:
        pairs = {pair for pair in zip(levels[named[0]], levels[at], strict=True) if all(pair)}
        context = len(pairs) > len({name for name, _ in pairs})
        says = "their contexts are" if context else "above the classes are"
        role = "context" if context else "group"
        notes.append((says, {str(name) for _, name in pairs}, {at: role, named[0]: "class"}))
        if context:
            notes.append(("or the classes are", notes[-1][1], {at: "class", named[0]: role}))
    told = [
        f"{file}: {says} the folders {shorten_list(sorted(names), _SHOWN)}{_pattern(of)}"
        for says, names, of in notes
    ]
    return replace(annotations, notes=(*annotations.notes, *told))


def _are_classes(level: Sequence[str | None], images: Iterable[int]) -> bool:
    """Whether the folders of a level, with as many images, are called as classes are."""
    counts = Counter[str]()
    for name, n in zip(level, images, strict=True):
        counts[name or ""] += n
    del counts[""]
    forms = {re.sub(r"\d+", "#", name) for name in counts}
    word = re.sub("[^a-z]", "", min(forms, default="").lower())
    per_image = 2 * len(counts) > counts.total()
    if len(counts) < 2 or len(forms) > 1:
        return len(counts) > 1 and not (per_image and counts.total() > _MANY)
    is_short = max(map(len, counts)) < _LONG
    if not word:
        return is_short or not per_image
    return word in _RANKS or is_short * len(word) == 1 or all(map(_WORDNET.fullmatch, counts))


def _pattern(roles: Mapping[int, str]) -> str:
    levels = range(max(roles), -1, -1)
    named = [f"{{{roles[level]}}}" if level in roles else "*" for level in levels]
    return f': the path pattern is "{"/".join([*named, "*"])}"'
