"""Check an import: read all of it, compare it with the dataset, write nothing."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import ALL_IMAGES, Annotations, IntArray, Progress, plain_values
from cobalance.counting import incidence_of
from cobalance.graph import (
    GraphStore,
    IfExists,
    IngestReport,
    Sample,
    class_sizes,
    dry_run,
    dry_run_sampled,
)
from cobalance.ingest import (
    PackedPictures,
    ReadOptions,
    declared_options,
    first_images,
    images_by_class,
    images_by_concept,
    read_annotations,
    reword_all,
)
from cobalance.vision import regions_in
from cobalance.workflows.cells import count_texts
from cobalance.workflows.load.sources import WHOLE, Source, Uploads, inside


@dataclass(frozen=True)
class ImportRequest:
    """A file to load, and how to read it.

    Parameters
    ----------
    file : str
        Name of the annotation file in its folder.
    dataset : str
        Name of the dataset to load into.
    options : ReadOptions
        As for `read_annotations`, with the names of companion files in place of their paths.
    input_format : str or None
        A name in `FORMATS`; None finds it from the content.
    if_exists : {"fail", "append", "replace"}
        What to do where the dataset holds images of another source; as of `write_annotations`.
    sample : Sample or None
        The images that the graph keeps; None for all.
    """

    file: str
    dataset: str
    options: ReadOptions
    input_format: str | None = None
    if_exists: IfExists = "fail"
    sample: Sample | None = None


MOST_SHOWN = 12
"""Images of a check that are shown."""
MANY_LEFT_OUT = 0.1
"""The share of images left out from which on a person has to agree."""
# Left out by a person's choice.
_WANTED = ("images of other classes", "images of other splits")


@dataclass(frozen=True)
class ProofImage:
    """An image as it was read: its class, its concepts, and where its file should be."""

    id: str
    class_name: str
    concepts: tuple[str, ...]
    uri: str | None


@dataclass(frozen=True, eq=False)
class Proof:
    """Some images of all classes.

    Parameters
    ----------
    images : tuple of ProofImage
        At most `MOST_SHOWN`, class by class.
    regions : pandas.DataFrame
        Their boxes and outlines, as `cobalance.vision.images.regions.read_regions` gives them.
    """

    images: tuple[ProofImage, ...]
    regions: pd.DataFrame


@dataclass(frozen=True, eq=False)
class CheckedImport:
    """A checked import, with the changes that loading would make.

    Parameters
    ----------
    request : ImportRequest
        The import that was checked.
    annotations : Annotations
        As read; messages name files without their folder.
    changes : IngestReport
        Changes that loading would make.
    classes, concepts, first : pandas.DataFrame
        From `cobalance.ingest.preview`.
    proof : Proof
        Some of the images.
    kept_classes : tuple of str
        Of images that the dataset has already and keeps.
    pictures : PackedPictures
        Pictures of the images that were uploaded with them.
    """

    request: ImportRequest
    annotations: Annotations
    changes: IngestReport
    classes: pd.DataFrame
    concepts: pd.DataFrame
    first: pd.DataFrame
    proof: Proof
    kept_classes: tuple[str, ...] = ()
    pictures: PackedPictures = field(default_factory=PackedPictures)

    def nothing_to_compare(self) -> str | None:
        """Why no class could be compared with another after loading; None if some could."""
        names = {*self.classes["class"], *self.kept_classes}
        if names == {ALL_IMAGES}:
            return self._nothing_shown()
        if len(names) == 1:
            return (
                f"All {len(self.annotations.images):,} images have one class, {min(names)!r}: "
                "there is nothing to compare it with. Choose where the class is, or keep more "
                "classes."
            )

        # What images that are kept already show is not known here.
        if self.kept_classes:
            return None
        if self.concepts.empty:
            return self._nothing_shown()
        n_classes = (incidence_of(self.annotations).class_concept_counts() > 0).sum(axis=0)
        if not n_classes.max() > 1:
            return (
                "No concept occurs in images of two classes: there is nothing to compare. Look "
                "whether the columns of class and concepts are the right ones."
            )
        return None

    def _nothing_shown(self) -> str | None:
        nothing = "No image shows a concept. Choose the column, file or path pattern with them."
        return nothing if self.concepts.empty else None

    def count_left_out(self) -> tuple[int, list[str]]:
        """Images that are left out though nobody asked for it, and the reasons with their counts.

        Nothing if they are fewer than a tenth of all images.
        """
        counts = {
            reason: count
            for reason, count in self.annotations.set_aside.items()
            if reason.startswith("images") and reason not in _WANTED
        }

        total = sum(counts.values())
        if total < MANY_LEFT_OUT * (total + len(self.annotations.images)):
            return 0, []
        return total, count_texts(counts.items())


def check_import(
    source: Source, request: ImportRequest, store: GraphStore, progress: Progress
) -> CheckedImport:
    """Read the whole file and compare it with the dataset.

    Raises
    ------
    InputError
        The file, a record in it, or a companion cannot be used, or nothing is left.
    OptionError
        An option does not go with the format, or the dataset's name cannot be used.
    ConflictError
        The dataset holds images of another source.
    """
    # All files are opened: a companion may be any of them.
    with source.open_files() as folder:
        annotations = read_annotations(
            _in_folder(request.file, folder),
            _place_files(request.options, folder),
            request.input_format,
            progress,
        )
        annotations = reword_all(reword_all(annotations, f"{folder}/", ""), str(folder), WHOLE)
        proof = proof_of(annotations)
        pictures = PackedPictures()
        if isinstance(source, Uploads):
            uris = (image.uri for image in proof.images if image.uri is not None)
            pictures = source.find_pictures(uris, annotations.images["uri"].dropna())

    name, if_exists = request.dataset, request.if_exists
    if request.sample is None:
        file_name = Path(request.file).name or name
        changes = dry_run(
            store, name, annotations, source=file_name, if_exists=if_exists, progress=progress
        )
    else:
        changes = dry_run_sampled(store, name, annotations, if_exists=if_exists)
    return CheckedImport(
        request=request,
        annotations=annotations,
        changes=changes,
        classes=images_by_class(annotations),
        concepts=images_by_concept(annotations),
        first=first_images(annotations),
        proof=proof,
        kept_classes=tuple(class_sizes(store, request.dataset)) if changes.kept else (),
        pictures=pictures,
    )


def _place_files(options: ReadOptions, folder: Path) -> ReadOptions:
    """The options with companion files placed in the folder."""
    placed: dict[str, Any] = {}
    for name in declared_options():
        file = getattr(options, name)
        if isinstance(file, Path):
            placed[name] = _in_folder(str(file), folder)

    placed["join"] = tuple(_in_folder(str(file), folder) for file in options.join)
    words = options.class_words
    if words is not None and words.endswith(".toml"):
        placed["class_words"] = str(_in_folder(words, folder))
    return replace(options, **placed)


def _in_folder(name: str, folder: Path) -> Path:
    """The path of a file in the folder; raises if it leads out of it."""
    inside(name, folder.resolve())
    return folder / name


def proof_of(annotations: Annotations) -> Proof:
    """Choose images of each class, as many of each, from its whole length; with concepts if any."""
    chosen = annotations.take(_rows(annotations))
    images = chosen.images
    proof_images = map(
        ProofImage,
        plain_values(images["id"]),
        plain_values(images["class_name"]),
        map(tuple, chosen.concepts_by_image()),
        plain_values(images["uri"]),
    )
    return Proof(tuple(proof_images), regions_in(chosen))


def _rows(annotations: Annotations) -> IntArray:
    """Rows of the images to show: evenly spaced in each of the largest classes."""
    codes = annotations.images["class_name"].cat.codes.to_numpy()
    sizes = np.bincount(codes)
    n_classes = min((sizes > 0).sum(), MOST_SHOWN)
    largest = sorted(np.argsort(-sizes, kind="stable")[:n_classes].tolist())
    shows = np.zeros(len(codes), dtype=bool)
    shows[annotations.mentions["image"].to_numpy()] = True

    chosen = [np.empty(0, dtype=np.int64)]
    for code in largest:
        rows = np.flatnonzero((codes == code) & shows)
        if not len(rows):
            rows = np.flatnonzero(codes == code)
        n = min(len(rows), MOST_SHOWN // len(largest))
        chosen.append(rows[np.linspace(0, len(rows) - 1, n).astype(np.int64)])
    return np.concatenate(chosen)
