"""Score tables from files, with or without a graph, and keep the scores of predictions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pandas as pd

from cobalance.base import (
    UNDECODABLE,
    InputError,
    OptionError,
    check_known,
    clean_name,
    decoding_fault,
)
from cobalance.evaluation import (
    TABLES,
    Inputs,
    Shortcuts,
    known_rows,
    read_predictions,
    refuse_cells,
    runs,
)
from cobalance.graph import GraphStore, read_image_concepts
from cobalance.graph.evaluations import writing
from cobalance.ingest import Category, Id, Image, read_head
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.evaluate.score import (
    dataset_groups,
    with_clusters,
    with_groups,
)
from cobalance.workflows.evaluate.settings import shortcut_settings
from cobalance.workflows.evaluate.stored import write_predictions

_Length = Annotated[float, msgspec.Meta(ge=0)]


class _Object(msgspec.Struct, gc=False):
    image_id: Id
    category_id: Id
    bbox: tuple[float, float, _Length, _Length]
    iscrowd: bool | int = 0


class _Detection(_Object, kw_only=True, gc=False):
    score: float


class _Instances(msgspec.Struct):
    images: list[Image]
    annotations: list[_Object]
    categories: list[Category]


def read_tables(files: Mapping[str, Path], seed: int = 0, *, images: bool = False) -> Inputs:
    """Read tables to score, by their names in `cobalance.evaluation.metrics.TABLES`.

    There must be one, unless there are `images`. Predictions in JSON are a detector's results.

    Raises
    ------
    InputError
        One cannot be read, or is not of the form that it should have, or an image has no group.
    UnknownNameError, OptionError
        Metrics take no such table, or there is none.
    """
    check_known("table", files, list(TABLES))
    if not files and not images:
        raise OptionError("There is nothing to score. Give a table of predictions.")

    frames: dict[str, Any] = {}
    if "predictions" in files and read_head(files["predictions"], "predictions")[:1] in b"[{":
        frames = _read_detections(files["predictions"], files.get("objects"))
        files = {name: files[name] for name in files.keys() - {"predictions", "objects"}}
    for name, path in files.items():
        frames[name] = TABLES[name].read(path)

    if "predictions" in frames and "groups" in frames:
        predicted, grouped = frames["predictions"]["image"], frames["groups"]["image"]
        known_rows(predicted, grouped, str(files["predictions"]), str(files["groups"]))
    return Inputs(**frames, seed=seed)


def with_baseline(inputs: Inputs, path: Path) -> tuple[Inputs, str]:
    """Join predictions with a baseline's from a file; also the baseline's method.

    That is the file's name without its suffix, unless the table names one.

    Raises
    ------
    InputError
        The file cannot be used, or has several methods.
    OptionError
        There are no predictions to compare.
    """
    predictions, of_baseline = inputs.need("predictions"), read_predictions(path)
    names = of_baseline["method"].unique().tolist()
    if len(names) > 1:
        reason = f"has {len(names)} methods: {', '.join(names)}"
        raise InputError(str(path), None, reason, "Keep the rows of one.")

    name = names[0] or path.stem
    if name in predictions["method"].to_numpy():
        name = f"{name} (baseline)"
    both = [predictions, of_baseline.assign(method=name)]
    joined = pd.concat(both, join="inner", ignore_index=True)
    return inputs.replace(predictions=joined), name


def _read_detections(path: Path, objects: Path | None) -> dict[str, pd.DataFrame]:
    """Read COCO results and instances; each image has a row without an object, too."""
    if objects is None:
        raise OptionError("A detector's results need the objects to find: objects=FILE, of COCO.")
    results = _decode(path, list[_Detection], "a list of image_id, category_id, bbox and score")
    truth = _decode(objects, _Instances, "images, categories, and annotations with bbox")
    names = {str(category.id): clean_name(category.name) for category in truth.categories}
    images = pd.DataFrame({"image": [str(image.id) for image in truth.images]})

    frames = list[pd.DataFrame]()
    for file, items in ((path, results), (objects, truth.annotations)):
        frame = pd.DataFrame(msgspec.to_builtins(items), columns=_Detection.__struct_fields__)
        frame = frame.astype({"image_id": str, "category_id": str})
        for name, ids in (("image_id", images["image"]), ("category_id", list(names))):
            refuse_cells(~frame[name].isin(ids), frame[name], str(file), f"is not in {objects}")
        frame["concept"] = frame["category_id"].map(names)
        frames.append(frame.rename(columns={"image_id": "image"}))
    return {"detections": frames[0], "objects": pd.concat([frames[1], images])}


def _decode(path: Path, kind: Any, form: str) -> Any:
    read_head(path)
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except UNDECODABLE as error:
        reason, _, place = decoding_fault(error).replace("`", "").partition(" - at ")
        raise InputError(str(path), place or None, reason, f"Give {form}, as COCO does.") from None


def with_dataset(
    store: GraphStore, dataset: str, shortcuts: Path | None, inputs: Inputs
) -> tuple[Inputs, Shortcuts | None]:
    """Tables with the groups of a dataset's images, and the shortcuts that make them.

    Where no training images are given, they are the dataset's other images of the split ``train``,
    or of any split where it has no such one. Objects get what else their images show, instead.

    Raises
    ------
    InputError
        A predicted image is not in the dataset.
    NotFoundError, StaleError, OptionError
        As `cobalance.workflows.evaluate.score.dataset_groups`.
    """
    objects = inputs.get("objects")
    if objects is not None:
        images = read_image_concepts(store, dataset).rename(columns={"id": "image"})
        known_rows(objects["image"], images["image"], "objects", repr(dataset))
        # Beside an object its image shows other concepts, and its class.
        images["concept"] = images["concepts"] + images["class_name"].map(lambda name: (name,))
        context = images[images["image"].isin(objects["image"])].explode("concept")
        objects = pd.concat([objects, context[["image", "concept"]]], ignore_index=True)
        return inputs.replace(objects=with_clusters(store, dataset, objects)), None

    groups, chosen = dataset_groups(store, dataset, shortcuts)
    training, predictions = inputs.get("training"), inputs.get("predictions")
    if predictions is not None:
        known_rows(predictions["image"], groups["image"], "predictions", repr(dataset))
        inputs = inputs.replace(predictions=with_clusters(store, dataset, predictions))
        others = ~groups["image"].isin(predictions["image"])
        of_train = groups["split"] == "train"
        if of_train.any():
            others &= of_train
        if training is None and others.any():
            training = groups[others].drop(columns="split").reset_index(drop=True)

    of_shortcuts = groups.drop(columns=["class_name", "split"])
    return inputs.replace(groups=of_shortcuts, training=training), chosen


def keep_scores(
    store: GraphStore,
    folder: OutputFolder,
    dataset: str,
    inputs: Inputs,
    scores: pd.DataFrame,
    shortcuts: Shortcuts | None,
    *,
    created_by: str = "",
) -> list[str]:
    """Keep predictions from elsewhere with their scores as evaluations, one for each run.

    Parameters
    ----------
    dataset : str
        The dataset of the images.

    Raises
    ------
    InputError
        An image is not in the dataset.
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    predictions = with_groups(inputs.need("predictions"), inputs.get("groups"))
    settings = {"shortcuts": shortcut_settings(shortcuts)}
    ids = list[str]()

    for method, seed, rows in runs(predictions):
        new = writing.NewEvaluation(method or "predictions", seed, settings)
        writing.create_evaluations(
            store, [new], train=None, test=dataset, extra=None, created_by=created_by
        )
        uri = write_predictions(folder, new.id, rows)
        writing.save_predictions_uri(store, new.id, uri)

        of_run = (scores["method"] == method) & (scores["seed"] == seed)
        writing.save_scores(store, new.id, scores[of_run])
        ids.append(new.id)
    return ids
