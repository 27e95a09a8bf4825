"""Order labelling runs, and estimate their cost."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import pandas as pd
import pyarrow as pa

from cobalance.annotation import (
    ANNOTATORS,
    PERCEIVED,
    EndpointSettings,
    LabelledAttribute,
    LabelSettings,
    Rule,
    check_remote,
    is_sensitive,
    measure_seconds,
    names_sensitive_trait,
)
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.base import (
    Action,
    DataError,
    OptionError,
    Progress,
    Setting,
    check_known,
    join_needs,
    log_run,
    readable,
    silent,
    text_if,
)
from cobalance.graph import (
    AttributeKey,
    GraphStore,
    Level,
    NewRun,
    create_run,
    list_attributes,
    read_annotations,
)
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.folders import Folders
from cobalance.workflows.images import images_with_files, pixel_reader

_AS_ORDERED = ("level", "base", "multi", "threshold", "split", "chunk_images")
WORKER = "worker"
"""The extra of tasks whose annotator needs no other."""
SEVERAL_ANYWAY = (
    "Every attribute from the threshold on counts, several of a category too. Whether the best "
    "alone counts is a choice only where scores are compared with a base caption."
)


@dataclass(frozen=True)
class LabelOrder:
    """Order to label a dataset's images.

    Parameters
    ----------
    dataset : str
    annotator : str
        A name in `cobalance.annotation.annotators.ANNOTATORS`.
    options : mapping
        Its options.
    endpoint : EndpointSettings or None
        Where to ask its model, for the annotators ``vlm`` and ``captions``: all images are sent
        there.
    level : {"image", "object"}
        Of the attributes; those of the other level are left to another run.
    base : str
        The caption that names the domain alone, such as "a photo of a bird".
    concepts : tuple of str
        What to look for instead of the dataset's accepted attributes.
    rule : {"base", "threshold"} or None
        By default ``base`` for whole images and ``threshold`` for objects.
    multi, threshold, thresholds, split, chunk_images
        As in `cobalance.annotation.labelling.settings.LabelSettings`.
    """

    dataset: str
    annotator: str
    options: Mapping[str, Any] = field(default_factory=dict)
    level: str = "image"
    base: str = ""
    concepts: tuple[str, ...] = ()
    rule: str | None = None
    multi: bool = False
    threshold: float = 0.3
    thresholds: Mapping[str, float] = field(default_factory=dict)
    split: str | None = None
    chunk_images: int = 1000
    endpoint: EndpointSettings | None = None


@log_run
def order_labels(
    store: GraphStore, folder: OutputFolder, order: LabelOrder, *, created_by: str = ""
) -> str:
    """Create a labelling run with its tasks, which workers then take; return its id.

    Raises
    ------
    UnknownNameError
        There is no such annotator.
    OptionError
        The rule needs a base caption; ``multi`` is asked for where a threshold decides; images may
        not be sent to the address, or the annotator cannot ask one.
    DataError
        There is nothing to look for, or no image.
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    JobBlockedError
        The output folder cannot be written to.
    """
    plugin, endpoint = ANNOTATORS[order.annotator], order.endpoint
    if endpoint is not None:
        options = check_remote(order.annotator, order.options, endpoint)
    else:
        options = ANNOTATORS.check(order.annotator, order.options).model_dump(mode="json")
    check_known("level", [order.level], get_args(Level))
    check_known("rule", filter(None, [order.rule]), get_args(Rule))
    attributes = _attributes(store, order)
    rule = _check_rule(order, attributes)

    images = images_with_files(store, order.dataset, order.split)
    settings = LabelSettings.read(
        {
            "annotator": order.annotator,
            "options": options,
            "endpoint": endpoint,
            "attributes": [attribute.model_dump() for attribute in attributes],
            "rule": rule,
            "images": len(images),
            "thresholds": dict(order.thresholds),
            **{name: getattr(order, name) for name in _AS_ORDERED},
        }
    )

    # A model at an address has a licence that is not the plug-in's.
    licence, extra = plugin.licence or None, plugin.extra or WORKER
    if endpoint is not None:
        licence, extra = None, "annotate"
    new = NewRun(
        "label",
        str(options.get("model", order.annotator)),
        settings.model_dump(mode="json"),
        licence=licence,
    )
    logging.getLogger(__name__).debug("run %s: %s", new.id, new.settings)

    files = ScoreFiles(folder, new.id)
    files.write_images(pa.Table.from_pandas(images, preserve_index=False))
    return create_run(
        store,
        order.dataset,
        replace(new, scores_uri=files.uri),
        tasks=[{"chunk": chunk} for chunk in range(settings.chunks)],
        extra=join_needs(extra, ANNOTATORS.list_offered(order.annotator)),
        created_by=created_by,
    )


def _check_rule(order: LabelOrder, attributes: Sequence[LabelledAttribute]) -> str:
    """The rule by which labels are present; OptionError where others of the order do not fit it."""
    rule = order.rule or ("base" if order.level == "image" else "threshold")
    if rule == "base" and not order.base.strip():
        raise OptionError(
            "An attribute of a whole image is present where it fits better than the caption that "
            "names the domain alone, such as 'a photo of a bird'. Give that caption with ",
            Setting("base"),
            ", or take ",
            Setting("rule", "threshold"),
            ".",
        )
    if rule == "threshold" and order.multi:
        raise OptionError(SEVERAL_ANYWAY)

    unknown = sorted(order.thresholds.keys() - {attribute.concept for attribute in attributes})
    if unknown:
        raise OptionError(f"There is a threshold for {unknown[0]!r}, which is not looked for.")
    return rule


def concepts_of(attributes: pd.DataFrame) -> dict[AttributeKey, str]:
    """The concept of each accepted attribute, and of those merged into one.

    Attributes of two categories with the same name are told apart by the category. Those that say
    of people what images only hint at are called perceived, such as "young (perceived age)", and
    "elderly woman (perceived)" of a category that is not sensitive: a model sees how people look.
    """
    accepted = attributes[attributes["state"] == "accepted"]
    names = accepted["name"]
    shared = set(names[names.duplicated()])
    concepts: dict[AttributeKey, str] = {}
    for row in accepted.to_dict("records"):
        name, category = row["name"], row["category"]
        concepts[category, row["proposed"]] = _concept(name, category, shared=name in shared)

    for row in attributes[attributes["state"] == "merged"].to_dict("records"):
        if row["merged_into"] in concepts:
            concepts[row["category"], row["proposed"]] = concepts[row["merged_into"]]
    return concepts


def _concept(name: str, category: str, *, shared: bool) -> str:
    """The concept of an attribute, whose name may be that of another category's, too."""
    if is_sensitive(category):
        return f"{name} ({category})"
    details = [category] if shared else []
    if names_sensitive_trait(name) and PERCEIVED not in name.lower().split():
        details.insert(0, PERCEIVED)
    return name + text_if(details, f" ({', '.join(details)})")


def _attributes(store: GraphStore, order: LabelOrder) -> list[LabelledAttribute]:
    """Attributes to look for: concepts of the order, or accepted attributes of its level."""
    if order.concepts:
        # Each has a category of its own: it competes with the base caption alone.
        return [
            LabelledAttribute(category=name, concept=name, caption=f"a photo of {readable(name)}")
            for name in dict.fromkeys(order.concepts)
        ]

    attributes = list_attributes(store, order.dataset)
    concepts = concepts_of(attributes)
    of_level = []
    for row in attributes[attributes["level"] == order.level].to_dict("records"):
        category, caption = row["category"], row["caption"]
        concept = concepts.get((category, row["proposed"]))
        if concept is not None:
            of_level.append(LabelledAttribute(category=category, concept=concept, caption=caption))

    if not of_level:
        raise DataError(
            f"{order.dataset!r} has no accepted attributes of the level {order.level!r}. ",
            Action("review_attributes", order.dataset),
            " first, or name concepts with ",
            Setting("concepts"),
            ".",
        )
    return of_level


LEVELS = 2
"""Each image goes through one model for whole images and one for objects, once, whatever the number
of attributes."""


def label_cost(
    store: GraphStore,
    folders: Folders,
    dataset: str,
    texts: int,
    annotator: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> dict[str, float]:
    """Passes of images through models, and the seconds of one of them.

    Parameters
    ----------
    texts : int
        How many captions are scored in each image.
    annotator : str or None
        Opened, and measured on two batches of the dataset's first images.

    Returns
    -------
    dict
        ``images``, ``image_passes`` (through a model of each level), and with an annotator
        ``seconds`` of its passes.
    """
    images = read_annotations(store, dataset).images
    images = images[images["uri"].notna()]
    total = len(images)
    cost: dict[str, float] = {"images": total, "image_passes": LEVELS * total}
    if annotator is None:
        return cost
    if not total:
        raise DataError(f"{dataset!r} has no images with addresses of their files to measure.")

    opened = ANNOTATORS.open(annotator, dict(options or {}))
    batch = int(getattr(ANNOTATORS.check(annotator, dict(options or {})), "batch_size", 8))
    # The first batch warms the model up; the pace is that of the second.
    sample = images.sort_values("id").head(2 * batch)
    read = pixel_reader(folders, dataset)
    progress("measure two batches", 0, None)
    pixels = list(map(read, sample["uri"], sample["synthetic"].map(bool)))
    captions = [f"a photo of attribute {number}" for number in range(texts)]
    return {**cost, "seconds": measure_seconds(opened, pixels, captions, total)}
