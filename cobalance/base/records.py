"""Annotations, one by one as records or all as frames."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isfinite, isnan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import union_categoricals

from cobalance.base.arrays import STRING, FloatArray, IntArray
from cobalance.base.grouping import values_at

Box = tuple[float, float, float, float]

IMAGE_COLUMNS = (
    "id",
    "class_name",
    "split",
    "uri",
    "width_px",
    "height_px",
    "synthetic",
    "cluster",
)
MENTION_NUMBERS = ("score", "area_px2", "x_px", "y_px", "w_px", "h_px")

# The class of every image where a dataset has no classes.
ALL_IMAGES = "all images"
# The source of a mention that a person or the dataset's own file made.
ANNOTATION = "annotation"


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention of a concept in an image: an annotated instance, a caption's word, a tag.

    Parameters
    ----------
    concept : str
        The concept's name.
    source : str
        Where it comes from: ``"annotation"``, ``"caption"``, or the name of a model.
    score : float or None
        The confidence in [0, 1] where the source gives one.
    area_px2 : float or None
        Area of the instance's region in square pixels.
    box : tuple of four floats or None
        x, y of the top left corner, width, height, in pixels.
    segmentation : str or None
        The instance's outline or mask as COCO has it, in JSON: polygons, or a run-length encoding.
    crowd : bool
        Whether it is many instances that are outlined as one, as COCO's ``iscrowd`` says: a mention
        like any other, and no object to cut out.
    """

    concept: str
    source: str = ANNOTATION
    score: float | None = None
    area_px2: float | None = None
    box: Box | None = None
    segmentation: str | None = None
    crowd: bool = False


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """One annotated image: its class and the concepts seen in it.

    Parameters
    ----------
    id : str
        Unique in the dataset.
    class_name : str
        The image's class (its label).
    mentions : tuple of Mention
        Any number per concept; none at all is allowed.
    split : str or None
        Such as ``"train"``.
    uri : str or None
        Where the pixels are, as the annotation file has it.
    width_px, height_px : int or None
        The image's size in pixels.
    synthetic : bool
        Whether it was generated.
    cluster : str or None
        What it shares with images that depend on it, such as a video; None for nothing.
    """

    id: str
    class_name: str
    mentions: tuple[Mention, ...] = ()
    split: str | None = None
    uri: str | None = None
    width_px: int | None = None
    height_px: int | None = None
    synthetic: bool = False
    cluster: str | None = None

    @property
    def concepts(self) -> tuple[str, ...]:
        """The concepts, ascending, each once."""
        return tuple(sorted({mention.concept for mention in self.mentions}))


@dataclass(frozen=True, slots=True)
class Edit:
    """Edit of one image: to show another group, with all else unchanged.

    Parameters
    ----------
    source_image : str
        The id of the image to edit.
    caption : str
        The edited caption that the prompt is made from; empty for a recipe that needs none.
    captions : tuple of str
        All captions of the image, edited, in the order of the originals, for exports.
    own_group : str
        The group that the image showed itself when it was planned, which its class may tell no
        more; empty where every group is asked for.
    """

    source_image: str
    caption: str = ""
    captions: tuple[str, ...] = ()
    own_group: str = ""


class Counterfactual(NamedTuple):
    """Edit of one image to show a group, with the accepted results.

    Parameters
    ----------
    source : str
        The id of the edited image.
    group : str
        The group to show.
    images : tuple of str
        Its accepted candidates; none where it lacks one.
    tried : bool
        Whether an image was made at all: an image without a mask is not edited.
    own_group : str
        As in `Edit`.
    """

    source: str
    group: str
    images: tuple[str, ...]
    tried: bool = True
    own_group: str = ""


class PlannedQuery(NamedTuple):
    """A query of a plan, as the graph keeps it.

    Parameters
    ----------
    class_name : str
        The class of the images; with an edit the group to show, which the dataset need not have.
    concepts : tuple of str
        In ascending order; none only with an edit.
    n : int
        Images.
    edit : Edit or None
        The image that they are to be made from; None for any of the class.
    sources : tuple of str
        Ids of real images that show the concepts, or nearly, to make the images from.
    """

    class_name: str
    concepts: tuple[str, ...]
    n: int
    edit: Edit | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Metadata:
    """Columns of records beside class and concepts, of any type.

    Parameters
    ----------
    image : int64 array, shape (n,)
        Row of each record's image, -1 for none; an image may have several records, or none.
    columns : mapping of str to pyarrow.Array
        Of n values each: text (``large_string``), floats, lists or structures; null where missing.
    numbers : mapping of str to float64 array
        Score, area and box where a record is an object in its image, as in `Annotations.mentions`.
    """

    image: IntArray
    columns: Mapping[str, pa.Array]
    numbers: Mapping[str, FloatArray] = field(default_factory=dict)

    def move(self, new_row: IntArray) -> "Metadata":
        """Renumber the images, and leave out records of those whose new row is -1."""
        # Row -1, of no image, stays -1.
        image = np.append(new_row, -1)[self.image]
        rows = np.flatnonzero(image >= 0)
        # Taking all rows would copy every column.
        if len(rows) == len(image):
            return replace(self, image=image)

        columns = {name: column.take(pa.array(rows)) for name, column in self.columns.items()}
        numbers = {name: values[rows] for name, values in self.numbers.items()}
        return Metadata(image[rows], columns, numbers)


@dataclass(frozen=True, slots=True)
class Field:
    """Use of a column of the metadata.

    Parameters
    ----------
    column : str
        Its name.
    kind : str
        A kind of the option ``field``, ``"ignore"`` where it is left out, or the role
        (``"class"``, ``"split"``) that it has.
    concepts, images : int
        How many concepts, classes or splits, and the images that have one.
    missing : int
        Records without a value.
    why : str
        Why it is left out, or what to know of it; empty if nothing.
    """

    column: str
    kind: str
    concepts: int = 0
    images: int = 0
    missing: int = 0
    why: str = ""


@dataclass(frozen=True, eq=False)
class Annotations:
    """Annotations as two frames, images and mentions, from a reader to the graph.

    A million records as objects would be gigabytes; as columns they are tens of megabytes, and
    filters, renames and counts are vector operations.

    Parameters
    ----------
    images : pandas.DataFrame
        One row an image, index 0..n-1. ``id`` (str, unique), ``class_name`` (category), ``split``
        (category, may be missing), ``uri`` (str, may be missing), ``width_px`` and ``height_px``
        (Int64, may be missing), ``synthetic`` (bool): whether it was generated. Where images are
        not independent, ``cluster`` (category): which belong together, such as frames of a video;
        missing for an image on its own.
    mentions : pandas.DataFrame
        One row a mention. ``image`` (int64, the row in `images`), ``concept`` (category),
        ``source`` (category), and float64 columns that are NaN where unknown: ``score``,
        ``area_px2``, ``x_px``, ``y_px``, ``w_px``, ``h_px``. ``segmentation`` (object): JSON as
        anything with bytes in it, None, nothing or ``null`` where unknown. It is not parsed, and
        may be a view of the file that it was read from: a reader spends next to nothing on it.
        ``crowd`` (bool): whether it is many instances as one; without this column none is.
    set_aside : mapping of str to int
        Records that were understood and left out on purpose, counted by reason.
    skipped : tuple of str
        One message for each malformed record that was skipped because the caller asked for it.
    notes : tuple of str
        Assumptions of a reader, such as the columns it guessed, for people.
    objects : pandas.DataFrame or None
        Regions of what gives an image its class, where the annotations have them: no concepts, in
        no count, and kept for cutting the object out. ``image``, the numbers, ``segmentation``
        and ``crowd`` as in `mentions`.
    texts : pandas.DataFrame or None
        What is written about images, of no count either: ``image`` (int64, each row once),
        ``captions`` (a list of str, or None where none was looked for), ``license``,
        ``license_url`` and ``attribution`` (str or None).
    metadata : tuple of Metadata
        Of the records, until `cobalance.ingest.load` has made concepts of it.
    roles : mapping of str to str
        The columns that the reader took itself, by role (``"class"``), of those it found.
    fields : tuple of Field
        What each column of the metadata has become.

    Examples
    --------
    >>> annotations = Annotations.from_records([ImageRecord("a", "cat", (Mention("sofa"),))])
    >>> next(annotations.records()).mentions[0].concept
    'sofa'
    """

    images: pd.DataFrame
    mentions: pd.DataFrame
    set_aside: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    objects: pd.DataFrame | None = None
    texts: pd.DataFrame | None = None
    metadata: tuple[Metadata, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()

    @classmethod
    def from_records(cls, records: Iterable[ImageRecord]) -> "Annotations":
        """Collect records into columns, in the order given."""
        columns: dict[str, list[Any]] = {name: [] for name in IMAGE_COLUMNS}
        rows: list[tuple[Any, ...]] = []
        for image, record in enumerate(records):
            for name, column in columns.items():
                column.append(getattr(record, name))
            rows += [_mention_row(image, mention) for mention in record.mentions]

        names = ["image", "concept", "source", *MENTION_NUMBERS, "segmentation", "crowd"]
        numbers = dict.fromkeys(MENTION_NUMBERS, np.float64)
        frame = pd.DataFrame(rows, columns=names, dtype=object)
        frame = frame.astype({"image": np.int64, **numbers, "crowd": bool})
        frame["concept"] = category(frame["concept"].tolist())
        frame["source"] = category(frame["source"].tolist())
        if not frame["crowd"].any():
            frame = frame.drop(columns="crowd")
        return cls(image_frame(columns), frame)

    @classmethod
    def concat(cls, parts: Sequence["Annotations"]) -> "Annotations":
        """The annotations of several parts, in which ids differ, as one."""
        sizes = [len(part.images) for part in parts]
        starts = np.cumsum([0, *sizes])[:-1].tolist()

        def stack(name: str, *coded: str) -> Any:
            frames = []
            for part, start in zip(parts, starts, strict=True):
                frame = getattr(part, name)
                if frame is not None:
                    frames.append(frame.assign(image=frame["image"] + start))
            return stack_frames(frames, coded) if frames else None

        set_aside = Counter[str]()
        roles: dict[str, str] = {}
        for part in parts:
            set_aside += Counter(part.set_aside)
            roles |= part.roles
        images = [part.images for part in parts]
        all_notes = chain.from_iterable(part.notes for part in parts)
        return cls(
            images=stack_frames(images, ("class_name", "split", "cluster")),
            mentions=stack("mentions", "concept", "source"),
            set_aside=dict(set_aside),
            skipped=tuple(chain.from_iterable(part.skipped for part in parts)),
            # Files of a folder are read alike, and each has the same note.
            notes=tuple(dict.fromkeys(all_notes)),
            objects=stack("objects"),
            texts=stack("texts"),
            metadata=tuple(_stack_metadata(zip(parts, starts, strict=True))),
            roles=roles,
        )

    def take(self, rows: IntArray) -> "Annotations":
        """The annotations of some images alone, in the order of `rows`."""
        # The new row of each image, -1 for one that is not taken.
        new_row = np.full(len(self.images), -1)
        new_row[rows] = np.arange(len(rows))

        def of_images(frame: pd.DataFrame) -> pd.DataFrame:
            image = new_row[frame["image"].to_numpy()]
            selected: pd.DataFrame = frame[image >= 0].assign(image=image[image >= 0])
            return selected.reset_index(drop=True)

        images = self.images.iloc[rows].reset_index(drop=True)
        others: dict[str, Any] = {}
        for name in ("objects", "texts"):
            frame = getattr(self, name)
            if frame is not None:
                others[name] = of_images(frame)
        return replace(
            self,
            images=_without_unused(images, "class_name", "split"),
            mentions=_without_unused(of_images(self.mentions), "concept", "source"),
            metadata=tuple(part.move(new_row) for part in self.metadata),
            **others,
        )

    def concepts_by_image(self) -> list[list[str]]:
        """Concepts of each image, each once and in the order of its mentions."""
        concepts: list[dict[str, None]] = [{} for _ in range(len(self.images))]
        rows, names = self.mentions["image"].tolist(), self.mentions["concept"].tolist()
        for row, name in zip(rows, names, strict=True):
            concepts[row][name] = None
        return list(map(list, concepts))

    def cluster_codes(self) -> IntArray | None:
        """Cluster code of each image, -1 for one on its own; None where no image has a cluster."""
        clusters = self.images.get("cluster")
        if clusters is None or clusters.isna().all():
            return None
        return clusters.cat.codes.to_numpy(dtype=np.int64)

    def records(self) -> Iterator[ImageRecord]:
        """Yield the annotations record by record, mentions in file order."""
        order = self.mentions.sort_values("image", kind="stable")
        order = order.assign(crowd=order.get("crowd", False))
        # Image i has the rows from bounds[i] to bounds[i + 1].
        bounds = np.searchsorted(order["image"].to_numpy(), np.arange(len(self.images) + 1))
        columns = ["concept", "source", *MENTION_NUMBERS, "segmentation", "crowd"]
        rows = list(zip(*(order[name].tolist() for name in columns), strict=True))

        images = (plain_values(self.images[name]) for name in self.images.columns)
        for position, (image_id, class_name, *rest) in enumerate(zip(*images, strict=True)):
            mentions = map(_mention, rows[bounds[position] : bounds[position + 1]])
            yield ImageRecord(image_id, class_name, tuple(mentions), *rest)


def image_frame(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Build the frame `Annotations.images` from lists of values, by the names `IMAGE_COLUMNS`."""
    frame = pd.DataFrame(
        {
            "id": pd.array(columns["id"], dtype=STRING),
            "class_name": category(columns["class_name"]),
            "split": category(columns["split"]),
            "uri": pd.array(columns["uri"], dtype=STRING),
            "width_px": pd.array(columns["width_px"], dtype="Int64"),
            "height_px": pd.array(columns["height_px"], dtype="Int64"),
            "synthetic": np.array(columns["synthetic"], dtype=bool),
        }
    )

    clusters = columns.get("cluster", ())
    if any(clusters):
        frame["cluster"] = category(clusters)
    return frame


def stack_frames(frames: Sequence[pd.DataFrame], coded: Sequence[str]) -> pd.DataFrame:
    """Rows of several frames one below the other; `coded` are columns of categories, if there."""
    filled = [frame for frame in frames if len(frame)] or [*frames[:1]]
    columns = dict.fromkeys(chain.from_iterable(frame.columns for frame in filled))
    coded = [name for name in coded if name in columns]
    rows = pd.concat([frame.drop(columns=coded, errors="ignore") for frame in filled])
    # Missing where a frame has no crowds.
    if "crowd" in rows:
        rows["crowd"] = rows["crowd"].eq(True)

    # `pandas.concat` joins no categories that differ between frames.
    joined = {}
    for name in coded:
        parts = [frame.get(name, category([None] * len(frame))) for frame in filled]
        joined[name] = union_categoricals(parts, sort_categories=True)
    return rows.reset_index(drop=True).assign(**joined)[[*columns]]


def _stack_metadata(parts: Iterable[tuple[Annotations, int]]) -> Iterator[Metadata]:
    """Metadata of images, then of objects, as one each; images are renumbered from a start."""
    moved: list[Metadata] = []
    for part, start in parts:
        new_row = np.arange(len(part.images)) + start
        moved += [metadata.move(new_row) for metadata in part.metadata if metadata.columns]

    for of_objects in (False, True):
        alike = [metadata for metadata in moved if bool(metadata.numbers) == of_objects]
        if alike:
            names = dict.fromkeys(chain.from_iterable(metadata.columns for metadata in alike))
            numbers = {
                name: np.concatenate([metadata.numbers[name] for metadata in alike])
                for name in alike[0].numbers
            }
            yield Metadata(
                np.concatenate([metadata.image for metadata in alike]),
                {name: _stack_column(alike, name) for name in names},
                numbers,
            )


def _stack_column(parts: Sequence[Metadata], name: str) -> pa.Array:
    """A column of several parts, null where one lacks it, of one type though files may differ.

    A column without values has the others' type. Decimal numbers beside text are text, as in a CSV
    file, unless all of it is numbers; text beside lists is lists of one.
    """
    columns = [part.columns.get(name, pa.nulls(len(part.image))) for part in parts]
    with_values = [column for column in columns if column.null_count < len(column)]
    kinds = {column.type for column in with_values}
    if pa.float64() in kinds and all(map(_is_numeric, with_values)):
        kinds = {pa.float64()}

    tables = [pa.table({name: _of_kind(column, kinds)}) for column in columns]
    return pa.concat_tables(tables, promote_options="permissive")[name].combine_chunks()


def _is_numeric(column: pa.Array) -> bool:
    """Whether all values of a column are numbers, or written as such."""
    try:
        column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def _of_kind(column: pa.Array, kinds: set[pa.DataType]) -> pa.Array:
    """A column that can be stacked with columns of these types."""
    if column.null_count == len(column):
        return pa.nulls(len(column)) if kinds else column
    if len(kinds) == 1:
        return column.cast(*kinds)
    if pa.types.is_nested(column.type):
        return column

    texts = column
    if pa.types.is_floating(column.type):
        texts = pa.array(map(decimal_text, column.to_pylist()), pa.large_string())
    list_type = next(filter(_is_list_of_texts, kinds), None)
    if list_type is None:
        return texts
    return pa.array([None if text is None else [text] for text in texts.to_pylist()], list_type)


def _is_list_of_texts(kind: pa.DataType) -> bool:
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    value_type = kind.value_type
    if pa.types.is_dictionary(value_type):
        value_type = value_type.value_type
    return value_type in (pa.string(), pa.large_string())


def decimal_text(number: float | None) -> str | None:
    """A number as CSV files have it; None if it is missing or NaN.

    Examples
    --------
    >>> decimal_text(1), decimal_text(2.5), decimal_text(None)
    ('1.0', '2.5', None)
    """
    if number is None or isnan(number):
        return None
    return repr(float(number))


def _without_unused(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    used = {name: frame[name].cat.remove_unused_categories() for name in columns}
    return frame.assign(**used)


def category(names: Sequence[str | None]) -> "pd.Categorical[Any]":
    """Names as a categorical column, ascending; None is missing."""
    return pd.Categorical(pd.array(names, dtype=STRING))


def plain_values(column: "pd.Series[Any]") -> list[Any]:
    """Values as Python objects, None where missing; of a category each is one object for all."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        # The code -1, of a missing value, finds the last name.
        names = [*column.cat.categories.tolist(), None]
        return values_at(names, column.cat.codes.tolist())
    return column.astype(object).where(column.notna(), None).tolist()


def defined_rows(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of a frame as Python objects, without missing values and infinite numbers."""
    for row in frame.astype(object).to_dict("records"):
        yield {str(name): value for name, value in row.items() if _is_defined(value)}


def _is_defined(value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return value is not None


def _mention_row(image: int, mention: Mention) -> tuple[Any, ...]:
    """A mention as a row of the frame `Annotations.mentions`; `_mention` goes the other way."""
    box = mention.box or (None,) * 4
    outline = mention.segmentation and mention.segmentation.encode()
    numbers = mention.score, mention.area_px2, *box
    return image, mention.concept, mention.source, *numbers, outline, mention.crowd


def _mention(row: Sequence[Any]) -> Mention:
    """A mention from a row of `Annotations.mentions`."""
    concept, source, score, area_px2, x, y, w, h, segmentation, crowd = row
    text = bytes(segmentation or b"")
    return Mention(
        concept=concept,
        source=source,
        score=_or_none(score),
        area_px2=_or_none(area_px2),
        # The four numbers of a box are known or missing together.
        box=None if isnan(x) else (x, y, w, h),
        segmentation=None if text in (b"", b"null") else text.decode(),
        crowd=crowd,
    )


def _or_none(number: float) -> float | None:
    if isnan(number):
        return None
    return number
