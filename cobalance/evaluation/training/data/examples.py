"""Examples from labelled images: codes of classes, groups and domains, and the pixels."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from cobalance.base.errors import DataError
from cobalance.evaluation.training.data.images import LabelledImages, caption_list
from cobalance.evaluation.training.examples import Examples, IntArray, Pixels
from cobalance.vision.images.decoding import decode, rgb_array

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
    known = tuple(classes or _classes(first, labels))
    coded = {name: _labels(images, labels, known, first) for name, images in parts.items()}
    of_groups, of_domains = _group_names(parts, groups, labels)
    group_names, domain_names = _sorted_names(of_groups), _sorted_names(of_domains)
    return {
        name: Examples(
            images.frame["image"].tolist(),
            coded[name],
            _codes(of_groups[name], group_names),
            _codes(of_domains[name], domain_names),
            known,
            _reader(images),
            group_names,
            domain_names,
            captions=list(map(caption_list, images.frame["captions"]))
            if "captions" in images.frame
            else (),
        )
        for name, images in parts.items()
    }


def _classes(images: LabelledImages, labels: str) -> list[str]:
    if labels == "class":
        return sorted(set(images.frame["class_name"]))
    return sorted({name for shown in images.frame["concepts"] for name in shown})


def _labels(
    images: LabelledImages, labels: str, classes: Sequence[str], training: LabelledImages
) -> IntArray:
    code = {name: at for at, name in enumerate(classes)}
    if labels == "concepts":
        shown = np.zeros((len(images), len(classes)), dtype=np.int64)
        for row, names in enumerate(images.frame["concepts"]):
            shown[row, [code[name] for name in names if name in code]] = 1
        return shown
    unknown = images.frame["class_name"][~images.frame["class_name"].isin(code)]
    if len(unknown):
        raise DataError(
            f"{images.name!r} has {len(unknown):,} images of the class {unknown.iloc[0]!r}, which "
            f"is none of the training images of {training.name!r} "
            f"({', '.join(classes)}). Leave these images out, or add training images of the class."
        )
    return np.array([code[name] for name in images.frame["class_name"]], dtype=np.int64)


Names = dict[str, list[str | None]]


def _group_names(
    parts: Mapping[str, LabelledImages], groups: pd.DataFrame | None, labels: str
) -> tuple[Names, Names]:
    """Names of each image's group and domain, by part."""
    if labels == "concepts":
        of_class: Names = {
            name: images.frame["class_name"].tolist() for name, images in parts.items()
        }
        return of_class, of_class
    if groups is None:
        unknown: Names = {name: [None] * len(images) for name, images in parts.items()}
        return unknown, unknown
    shortcuts = [name for name in groups.columns if name != "image"]
    values = groups.set_index("image")[shortcuts]
    classes = sorted({name for images in parts.values() for name in images.frame["class_name"]})
    of_groups: Names = {}
    of_domains: Names = {}
    for name, images in parts.items():
        rows = values.reindex(images.frame["image"])
        known = rows.notna().all(axis=1).tolist()
        found = rows.to_numpy(object).tolist()
        labelled = images.frame["class_name"].tolist()
        named = [
            (_group(label, shortcuts, row), _domain(label, shortcuts, row, classes))
            if is_known
            else (None, None)
            for label, row, is_known in zip(labelled, found, known, strict=True)
        ]
        of_groups[name], of_domains[name] = ([one[at] for one in named] for at in (0, 1))
    return of_groups, of_domains


def _group(label: str, shortcuts: Sequence[str], values: Sequence[str]) -> str:
    """Name a group, such as "three, background common, thing uncommon"."""
    return ", ".join([label, *(f"{a} {b}" for a, b in zip(shortcuts, values, strict=True))])


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
    of = {"common": label, "uncommon": other}
    return ", ".join(
        f"{name} of {of[value]}" if value in of else f"{name} {value}"
        for name, value in zip(shortcuts, values, strict=True)
    )


def _sorted_names(of_parts: Names) -> tuple[str, ...]:
    return tuple(sorted({name for names in of_parts.values() for name in names if name}))


def _codes(names: Sequence[str | None], known: Sequence[str]) -> IntArray:
    code = {name: at for at, name in enumerate(known)}
    return np.array([code.get(name or "", UNKNOWN) for name in names], dtype=np.int64)


def _reader(images: LabelledImages) -> Callable[[IntArray], list[Pixels]]:
    """Function that reads and decodes files of images by row."""
    files = list(zip(images.frame["uri"], images.frame["synthetic"].astype(bool), strict=True))

    def read(rows: IntArray) -> list[Pixels]:
        return [rgb_array(decode(images.read(*files[row])).upright()) for row in rows.tolist()]

    return read
