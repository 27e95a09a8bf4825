"""Regions (boxes and outlines) of a dataset's images, stored in files beside the graph."""

import filecmp
import hashlib
import os
import secrets
import shutil
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import union_categoricals

from graph.arrays import IntArray
from graph.errors import InputError
from graph.progress import Progress, silent
from graph.records import Annotations
from ingest.frames import NUMBERS
from ingest.images.region_file import (
    CROWD,
    DIGEST,
    GROUP_ROWS,
    OUTLINE,
    SCHEMA,
    SIZE,
    STORED,
    RegionFile,
    open_regions,
    write_tables,
    writing,
)

_WRITTEN_AS = b"regions 1"  # to change when the same annotations are to be written otherwise
_COLUMNS = ("image", *NUMBERS, OUTLINE, CROWD)
_OF_CROWD = 1 << 40  # added to an outline's length in digests; no outline is as long


def regions_path(folder: Path, dataset: str) -> Path:
    """Path of a dataset's region file: readable, and unique to its name.

    Examples
    --------
    >>> regions_path(Path("regions"), "a/b").name
    'a%2Fb-c14cddc033f64b9d.parquet'
    """
    digest = hashlib.sha256(dataset.encode()).hexdigest()[:16]
    return folder / f"{quote(dataset, safe=' ')[:100]}-{digest}.parquet"


def write_regions(
    folder: Path,
    dataset: str,
    annotations: Annotations,
    *,
    replace: bool = False,
    progress: Progress = silent,
) -> int:
    """Write the regions of a dataset's images, atomically.

    A region is a mention with a box or a segmentation, or what gives an image its class, whose
    ``concept`` is then that class. Regions of other images stay, unless
    `replace` is set. Where none is left, there is no file. A file that holds just what it would
    hold afterwards is left as it is.

    Parameters
    ----------
    folder : Path
        The folder of all datasets' regions.
    replace : bool
        Whether the dataset's other images are deleted.

    Returns
    -------
    int
        How many regions the dataset then has.

    Raises
    ------
    StoreError
        The file cannot be written.
    InputError
        The file of earlier regions cannot be read.
    """
    path = regions_path(folder, dataset)
    new = _NewRows.of(annotations)
    if not new.ids and not path.exists():
        return 0
    with writing(folder), ExitStack() as opened:
        old = None
        with suppress(InputError) if replace else nullcontext():
            old = open_regions(path)
            if old is not None:
                opened.enter_context(old.file)
                if _is_unchanged(old.digests(), new, replace=replace):
                    return int(old.footer.num_rows)
        temporary = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.tmp")
        try:
            tables = _merged(None if replace else old, new)
            n_rows = write_tables(temporary, tables, len(new.order), progress)
            if n_rows:
                os.replace(temporary, path)
            else:
                path.unlink(missing_ok=True)
        finally:
            temporary.unlink(missing_ok=True)
    return n_rows


def read_regions(folder: Path, dataset: str, image_ids: Collection[str]) -> pd.DataFrame:
    """Read the regions of some images.

    Returns
    -------
    pandas.DataFrame
        In order of image id, and for each image as in its annotation file: ``id`` (the image's),
        ``concept``, ``score``, ``area_px2``, ``x_px``, ``y_px``, ``w_px``, ``h_px``,
        ``segmentation`` (compact JSON that `ingest.images.masks` reads), ``crowd`` (bool, whether
        it is many instances as one), and the size of the image that all this is in pixels of,
        ``image_width_px`` and ``image_height_px``. NaN where unknown; empty for a dataset without
        regions.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    found = open_regions(regions_path(folder, dataset))
    if found is None:
        return _frame(SCHEMA.empty_table())
    with found.file:
        places = {bisect_left(found.last_ids, image) for image in image_ids}
        table = found.read(sorted(places - {len(found.last_ids)}))
    wanted = pa.array(list(image_ids), pa.string())
    return _frame(table.filter(pc.is_in(table["id"], wanted)))


def drop_regions(folder: Path, dataset: str) -> None:
    """Delete a dataset's regions, if it has any."""
    path = regions_path(folder, dataset)
    if path.exists():
        with writing(folder):
            path.unlink(missing_ok=True)


def rename_regions(folder: Path, dataset: str, new: str) -> None:
    """Rename a dataset's region file, replacing any leftover of a dropped dataset."""
    path, target = regions_path(folder, dataset), regions_path(folder, new)
    if path.exists():
        with writing(folder):
            os.replace(path, target)
    elif path != target:
        drop_regions(folder, new)


def copy_regions(folder: Path, dataset: str, into: str) -> None:
    """Copy a dataset's regions to another dataset, replacing its own unless they are equal.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    path, target = regions_path(folder, dataset), regions_path(folder, into)
    if not path.exists():
        drop_regions(folder, into)
        return
    with writing(folder):
        if target.exists() and filecmp.cmp(path, target, shallow=False):
            return
        temporary = target.with_name(f".{target.stem}.{secrets.token_hex(8)}.tmp")
        shutil.copyfile(path, temporary)
        os.replace(temporary, target)


def _is_unchanged(held: Mapping[str, int | None], new: "_NewRows", *, replace: bool) -> bool:
    """Whether writing would leave a file with the digests `held` unchanged."""
    wanted = dict(zip(new.ids, new.digests.tolist(), strict=True))
    goes = held.keys() - wanted.keys() if replace else new.all_ids & held.keys() - wanted.keys()
    return not goes and all(held.get(image) == digest for image, digest in wanted.items())


def _frame(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas()
    return frame


@dataclass(frozen=True, eq=False)
class _NewRows:
    """Regions of annotations, sorted by image id.

    Parameters
    ----------
    ids : list of str
        The images that have regions, in order.
    bounds : int64 array
        Image i has the regions ``order[bounds[i]:bounds[i + 1]]``.
    order : int64 array
        Rows of mentions.
    all_ids : frozenset of str
        All images, those without regions too.
    mentions : dict of str to array
        The columns of the mentions.
    images : dict of str to pyarrow.Array
        The columns of the images; ``concept`` has the names that the mentions' codes are of.
    """

    ids: list[str]
    bounds: IntArray
    order: IntArray
    all_ids: frozenset[str]
    mentions: dict[str, npt.NDArray[Any]]
    images: dict[str, pa.Array]

    @classmethod
    def of(cls, annotations: Annotations) -> "_NewRows":
        images, mentions = annotations.images, _with_objects(annotations)
        # Longer than nothing, null, [] and {}.
        outlined = (
            outline is not None and len(outline) > 4 for outline in mentions["segmentation"]
        )
        has_region = np.fromiter(outlined, bool, len(mentions)) | mentions["x_px"].notna()
        rows = np.flatnonzero(has_region)
        ids = images["id"].tolist()
        by_id = sorted(range(len(ids)), key=ids.__getitem__)
        rank = np.empty(len(ids), dtype=np.int64)
        rank[by_id] = np.arange(len(ids))
        ranks = rank[mentions["image"].to_numpy()[rows]]
        used, counts = np.unique(ranks, return_counts=True)
        return cls(
            [ids[by_id[at]] for at in used.tolist()],
            np.concatenate([[0], np.cumsum(counts)]),
            rows[np.argsort(ranks, kind="stable")],
            frozenset(ids),
            {
                "concept": mentions["concept"].cat.codes.to_numpy(),
                **{name: mentions[name].to_numpy() for name in _COLUMNS},
            },
            {
                "id": pa.array(ids, pa.string()),
                "concept": pa.array(mentions["concept"].cat.categories.tolist(), pa.string()),
                **{f"image_{name}": pa.array(images[name], pa.int32()) for name in SIZE},
            },
        )

    @cached_property
    def digests(self) -> IntArray:
        """64-bit digest of each image's regions, in order of the images.

        Of an image without crowds it is what it was before crowds were kept.
        Of outlines it takes the text as it is given: the same with other white space counts as
        another.
        """
        names = [_digest(name.encode()) for name in self.images["concept"].to_pylist()]
        concepts = np.array(names, dtype=np.int64)
        sizes = [
            pc.fill_null(self.images[name], -1).to_numpy(zero_copy_only=False).astype(np.int64)
            for name in SCHEMA.names[-len(SIZE) :]
        ]
        found = []
        for start, end in self.batches(0, len(self.ids)):
            rows = self.order[self.bounds[start] : self.bounds[end]]
            outlines = self.mentions[OUTLINE][rows].tolist()
            image = self.mentions["image"][rows]
            columns = [
                concepts[self.mentions["concept"][rows]],
                *(self.mentions[name][rows].view(np.int64) for name in NUMBERS),
                *(size[image] for size in sizes),
                np.array([-1 if outline is None else len(outline) for outline in outlines])
                + (self.mentions[CROWD][rows] * _OF_CROWD),
            ]
            fields = np.column_stack(columns)
            texts = [outline or b"" for outline in outlines]
            bounds = self.bounds[start : end + 1] - self.bounds[start]
            for first, last in pairwise(bounds.tolist()):
                content = fields[first:last].tobytes() + b"".join(texts[first:last])
                found.append(_digest(content))
        return np.array(found, dtype=np.int64)

    def batches(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Split a range of images into ranges of about one row group of regions."""
        cuts = np.flatnonzero(np.diff(self.bounds[start:end] // GROUP_ROWS)) + start + 1
        yield from pairwise([start, *cuts.tolist(), end])

    def table(self, start: int, end: int) -> pa.Table:
        """Regions of a range of images, as a table."""
        rows = self.order[self.bounds[start] : self.bounds[end]]
        image = pa.array(self.mentions["image"][rows])
        outlines = map(_compact, self.mentions[OUTLINE][rows])
        columns = {
            "id": self.images["id"].take(image),
            "concept": self.images["concept"].take(pa.array(self.mentions["concept"][rows])),
            **{name: pa.array(self.mentions[name][rows], from_pandas=True) for name in NUMBERS},
            OUTLINE: pa.array(outlines, pa.string(), size=len(rows)),
            CROWD: pa.array(self.mentions[CROWD][rows]),
            **{name: self.images[name].take(image) for name in SCHEMA.names[-len(SIZE) :]},
            DIGEST: np.repeat(self.digests[start:end], np.diff(self.bounds[start : end + 1])),
        }
        return pa.table(columns, schema=STORED)


def _with_objects(annotations: Annotations) -> pd.DataFrame:
    """Mentions, followed by the objects of the class as mentions of it."""
    mentions, objects = _with_crowds(annotations.mentions), annotations.objects
    if objects is None or objects.empty:
        return mentions
    classes = annotations.images["class_name"].iloc[objects["image"]]
    mentions = mentions.drop(columns="source")
    objects = _with_crowds(objects).assign(concept=classes.array)
    both = pd.concat([mentions, objects], ignore_index=True)
    return both.assign(concept=union_categoricals([mentions["concept"], classes]))


def _with_crowds(frame: pd.DataFrame) -> pd.DataFrame:
    return frame if CROWD in frame else frame.assign(**{CROWD: False})


def _digest(content: bytes) -> int:
    digest = hashlib.blake2b(content, digest_size=8, person=_WRITTEN_AS).digest()
    return int.from_bytes(digest, "little", signed=True)


def _merged(old: RegionFile | None, new: _NewRows) -> Iterator[pa.Table]:
    """Merge the new regions with the old ones of other images, row group by row group."""
    start = 0
    for table, last in old.groups() if old is not None else ():
        others = [image not in new.all_ids for image in table["id"].to_pylist()]
        kept = table.filter(pa.array(others, pa.bool_()))
        ids = kept["id"].to_pylist()
        end, done = bisect_right(new.ids, last), 0
        for first, stop in new.batches(start, end):
            upto = len(ids) if stop == end else bisect_left(ids, new.ids[stop - 1])
            part = pa.concat_tables([kept.slice(done, upto - done), new.table(first, stop)])
            yield part.take(pc.sort_indices(part["id"]))
            done = upto
        start = end
    for first, stop in new.batches(start, len(new.ids)):
        yield new.table(first, stop)


def _compact(outline: bytes | None) -> bytes | None:
    """JSON without spaces; None unless it may be polygons or a run-length encoding."""
    if outline is None:
        return None
    text = bytes(outline).translate(None, b" \t\r\n")
    return text if text[:1] in (b"[", b"{") and len(text) > 2 and text.isascii() else None
