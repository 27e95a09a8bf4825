"""Examples from labelled images: codes of classes, groups and domains, and the pixels."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
import pandas as pd

from cobalance.base import DataError
from cobalance.evaluation.training.data.images import LabelledImages, caption_list
from cobalance.evaluation.training.examples import Examples, IntArray, Pixels
from cobalance.vision import decode, rgb_array

UNKNOWN = -1


def code_examples(
    parts: Mapping[str, LabelledImages],
    groups: pd.DataFrame | None = None,
    *,
    labels: str = "class",
    classes: Sequence[str] | None = None,
) -> dict[str, Examples]:
    """Examples of several parts, such as training, validation and test, with common codes.

    Parameters
    ----------
    parts : mapping of str to LabelledImages
        The classes are those of the first, the training images, unless they are given.
    groups : pandas.DataFrame, optional
        ``image``, and one column a shortcut: common, uncommon or none. A group is a class with the
        values of all shortcuts, a domain is what the shortcuts show, whichever class that is common
        with; groups of images that are not in the frame are unknown. The caller warrants that no
        image has two rows, as `cobalance.evaluation.groups.check_groups` checks.
    labels : {"class", "concepts"}
        What is to be predicted: the class, or which concepts an image shows. Then a group is the
        class.
    classes : sequence of str, optional
        Which to predict, in this order.

    Raises
    ------
    OptionError
        A part has a class that the training images do not have, or no such column of labels.
    """
    first = next(iter(parts.values()))
    classes = tuple(classes or _classes(first, labels))
    groups_by_part, domains_by_part = _group_names(parts, groups, labels)
    group_names, domain_names = _sorted_names(groups_by_part), _sorted_names(domains_by_part)

    examples = {}
    for name, images in parts.items():
        captions = images.frame.get("captions", ())
        examples[name] = Examples(
            ids=images.frame["image"].tolist(),
            labels=_labels(images, labels, classes, first),
            groups=_codes(groups_by_part[name], group_names),
            domains=_codes(domains_by_part[name], domain_names),
            classes=classes,
            read=_reader(images),
            group_names=group_names,
            domain_names=domain_names,
            captions=list(map(caption_list, captions)),
        )
    return examples


def _classes(images: LabelledImages, labels: str) -> list[str]:
    if labels == "class":
        return sorted(set(images.frame["class_name"]))
    return sorted(set(chain.from_iterable(images.frame["concepts"])))


def _labels(
    images: LabelledImages, labels: str, classes: Sequence[str], training: LabelledImages
) -> IntArray:
    code = dict(zip(classes, range(len(classes)), strict=True))
    if labels == "concepts":
        indicators = np.zeros((len(images), len(classes)), dtype=np.int64)
        for row, names in enumerate(images.frame["concepts"]):
            indicators[row, [code[name] for name in names if name in code]] = 1
        return indicators

    class_names = images.frame["class_name"]
    unknown = class_names[~class_names.isin(code)]
    if len(unknown):
        raise DataError(
            f"{images.name!r} has {len(unknown):,} images of the class {unknown.iloc[0]!r}, which "
            f"is none of the training images of {training.name!r} "
            f"({', '.join(classes)}). Leave these images out, or add training images of the class."
        )
    return np.asarray(class_names.map(code), dtype=np.int64)


Names = dict[str, list[str | None]]


def _group_names(
    parts: Mapping[str, LabelledImages], groups: pd.DataFrame | None, labels: str
) -> tuple[Names, Names]:
    """Names of each image's group and domain, by part."""
    if labels == "concepts":
        class_names: Names = {
            name: images.frame["class_name"].tolist() for name, images in parts.items()
        }
        return class_names, class_names
    if groups is None:
        unknown: Names = {name: [None] * len(images) for name, images in parts.items()}
        return unknown, unknown

    shortcuts = [name for name in groups.columns if name != "image"]
    states = groups.set_index("image")[shortcuts]
    labels_by_part = (images.frame["class_name"] for images in parts.values())
    classes = sorted(set(chain.from_iterable(labels_by_part)))

    groups_by_part: Names = {}
    domains_by_part: Names = {}
    for name, images in parts.items():
        rows = states.reindex(images.frame["image"])
        is_known = rows.notna().all(axis=1)
        group_names, domain_names = groups_by_part[name], domains_by_part[name] = [], []
        for label, row, known in zip(
            images.frame["class_name"], rows.to_numpy(object).tolist(), is_known, strict=True
        ):
            group_names.append(_group(label, shortcuts, row) if known else None)
            domain_names.append(_domain(label, shortcuts, row, classes) if known else None)
    return groups_by_part, domains_by_part


def _group(label: str, shortcuts: Sequence[str], values: Sequence[str]) -> str:
    """Name a group, such as "three, background common, thing uncommon"."""
    return ", ".join([label, *map(" ".join, zip(shortcuts, values, strict=True))])


def _domain(
    label: str, shortcuts: Sequence[str], values: Sequence[str], classes: Sequence[str]
) -> str:
    """Name the domain of an image; of two classes, an uncommon shortcut is the other one's.

    Examples
    --------
    >>> _domain("three", ["background"], ["uncommon"], ["eight", "three"])
    'background of eight'
    >>> _domain("a", ["background"], ["uncommon"], ["a", "b", "c"])
    'background of another class than a'
    """
    others = [name for name in classes if name != label]
    other = others[0] if len(others) == 1 else f"another class than {label}"
    owners = {"common": f"of {label}", "uncommon": f"of {other}"}
    pairs = zip(shortcuts, values, strict=True)
    return ", ".join(f"{name} {owners.get(value, value)}" for name, value in pairs)


def _sorted_names(names_by_part: Names) -> tuple[str, ...]:
    return tuple(sorted({name for names in names_by_part.values() for name in names if name}))


def _codes(names: Sequence[str | None], known: Sequence[str]) -> IntArray:
    code = dict(zip(known, range(len(known)), strict=True))
    return np.array([code.get(name or "", UNKNOWN) for name in names], dtype=np.int64)


def _reader(images: LabelledImages) -> Callable[[IntArray], list[Pixels]]:
    """Function that reads and decodes files of images by row."""
    files = list(zip(images.frame["uri"], images.frame["synthetic"].astype(bool), strict=True))

    def read(rows: IntArray) -> list[Pixels]:
        return [rgb_array(decode(images.read(*files[row])).upright()) for row in rows.tolist()]

    return read
