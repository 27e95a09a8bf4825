"""Regions (boxes and outlines) of a dataset's images, stored in files beside the graph."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import Annotations, InputError, Progress, silent
from cobalance.vision.images.region_rows import (
    OF_FEW_VALUES,
    REGIONS,
    SCHEMA,
    STORED,
    RegionRows,
    digests_of,
    has_regions,
    region_files,
)
from cobalance.vision.stored import SortedFile, open_sorted, read_rows, write_sorted


def write_regions(
    folder: Path,
    dataset: str,
    annotations: Annotations,
    *,
    replace: bool = False,
    progress: Progress = silent,
) -> int:
    """Write the regions of a dataset's images, atomically.

    A region is a mention with a box or a segmentation, or an object of the image's class, whose
    ``concept`` is then that class. Regions of other images stay, unless `replace` is set. The file
    is deleted if no region is left, and not written if nothing changes.

    Parameters
    ----------
    folder : Path
        Folder of all datasets' regions.
    replace : bool
        Delete the regions of the dataset's other images.

    Returns
    -------
    int
        Number of regions that the dataset has afterwards.

    Raises
    ------
    StoreError
        The file cannot be written.
    InputError
        The file of earlier regions cannot be read.
    """
    files = region_files(folder)
    path = files.path(dataset)
    if not has_regions(annotations) and not path.exists():
        return 0
    new = RegionRows.of(annotations)
    if not new.ids and not path.exists():
        return 0

    with files.writing(), ExitStack() as opened:
        old = None
        # A file that cannot be read is in nobody's way where all of it is replaced.
        with suppress(InputError) if replace else nullcontext():
            old = open_sorted(path, REGIONS)
            if old is not None:
                opened.enter_context(old.file)
                if _is_unchanged(digests_of(old), new, replace=replace):
                    return int(old.footer.num_rows)

        if replace:
            old = None
        total = len(new.order)
        progress("write regions", 0, total)
        with files.replacing(dataset) as temporary:
            return write_sorted(
                temporary,
                _merge(old, new),
                STORED,
                dictionary=OF_FEW_VALUES,
                # Old regions are written, too, and count for nothing here.
                progress=lambda done: progress("write regions", min(done, total), total),
            )


def read_regions(folder: Path, dataset: str, image_ids: Collection[str]) -> pd.DataFrame:
    """Read the regions of some images.

    Returns
    -------
    pandas.DataFrame
        In order of image id, and for each image as in its annotation file: ``id`` (the image's),
        ``concept``, ``score``, ``area_px2``, ``x_px``, ``y_px``, ``w_px``, ``h_px``,
        ``segmentation`` (compact JSON for `cobalance.vision.images.masks`), ``crowd`` (bool: many
        instances outlined as one), and the size of the annotated image, ``image_width_px`` and
        ``image_height_px``. NaN where unknown; empty for a dataset without regions.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    return _frame(read_rows(region_files(folder).path(dataset), REGIONS, SCHEMA, image_ids))


def regions_in(annotations: Annotations) -> pd.DataFrame:
    """The regions of annotations that are in no file yet, as `read_regions` gives them."""
    rows = RegionRows.of(annotations)
    return _frame(rows.table(0, len(rows.ids)).select(SCHEMA.names))


def _is_unchanged(stored: Mapping[str, int], new: "RegionRows", *, replace: bool) -> bool:
    """Whether writing would leave a file with the digests `stored` unchanged."""
    digests = dict(zip(new.ids, new.digests.tolist(), strict=True))
    # Images that have no region any more.
    emptied = stored.keys() - digests.keys()
    if not replace:
        emptied &= new.all_ids
    return not emptied and digests.items() <= stored.items()


def _frame(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas()


def _merge(old: SortedFile | None, new: RegionRows) -> Iterator[pa.Table]:
    """Merge the new regions with the old ones of other images, row group by row group."""
    start = 0
    groups = () if old is None else zip(old.groups(STORED), old.last_ids, strict=True)
    for table, last_id in groups:
        is_other = [image not in new.all_ids for image in table["id"].to_pylist()]
        others = table.filter(pa.array(is_other, pa.bool_()))
        ids = others["id"].to_pylist()

        # New images up to the last one of the group, each batch with the old ones before its last;
        # without new images there is an empty batch, with which all old ones go.
        end, done = bisect_right(new.ids, last_id), 0
        for first, stop in new.batches(start, end):
            upto = len(ids) if stop == end else bisect_left(ids, new.ids[stop - 1])
            part = pa.concat_tables([others.slice(done, upto - done), new.table(first, stop)])
            yield part.take(pc.sort_indices(part["id"]))
            done = upto
        start = end

    for first, stop in new.batches(start, len(new.ids)):
        yield new.table(first, stop)
