"""Average precision of a detector, by category and by the objects beside it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, special
from cobalance.counting import build_incidence, mine_cliques
from cobalance.evaluation.metrics.artefact_shift import percentiles
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.tables import Score, score_rows
from cobalance.evaluation.predictions import known_rows

DRAWS = 200
LEAST_IMAGES = 20  # of a category with the rest of a clique, and without
SHOWN = 10  # cliques, by their gap in precision times the root of the images behind it
_RECALLS = np.linspace(0, 1, 101)
_Precision = Callable[[FloatArray], float]  # by how often each image counts


def _compute(inputs: Inputs, _: Any) -> pd.DataFrame:
    """Precision of each category, and of its images with and without the rest of a clique."""
    detections, objects = inputs.need("detections"), inputs.need("objects")
    # Digits ascend as COCO's numbers do: the order decides between equal scores.
    images = pd.Series(sorted(set(objects["image"]), key=lambda image: (len(image), image)))
    objects = objects.assign(row=known_rows(objects["image"], images, "objects"))
    rows = known_rows(detections["image"], images, "detections", "objects")
    precision = _match(detections.assign(row=rows), objects)
    weights = _draw(objects, inputs.generator())

    named = objects.dropna(subset="concept")
    code, concepts = pd.factorize(named["concept"].astype(object))
    incidence = build_incidence(named["row"], code, np.zeros(len(images)), list(concepts), [""])
    shows = dict(zip(incidence.concepts, incidence.matrix().toarray().T > 0, strict=True))

    values = {name: _apply(function, weights) for name, function in precision.items()}
    mean = pd.DataFrame(values, index=range(DRAWS + 1)).mean(axis=1).to_numpy()
    scores = [_score("detection_precision", "", mean, len(images))]
    for name in values:
        n = np.sum(shows.get(name, 0))
        scores.append(_score("detection_precision", name, values[name], n))

    cliques = mine_cliques(incidence, max_size=3, min_support=LEAST_IMAGES).names()
    return score_rows([*scores, *_clique_scores(cliques, shows, precision, weights)])


def _apply(precision: _Precision, weights: FloatArray) -> FloatArray:
    return np.array([precision(row) for row in weights])


def _draw(objects: pd.DataFrame, rng: np.random.Generator) -> FloatArray:
    """How often each image counts: once, and in draws of clusters, shape (1 + DRAWS, n_images)."""
    # Images of one cluster are drawn together; an image without one is its own.
    clusters = objects.get("cluster", objects["image"]).fillna(objects["image"])
    code, names = pd.factorize(clusters.groupby(objects["row"]).first())
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), DRAWS)
    return np.vstack([np.ones(len(code)), drawn[:, code]])


def _clique_scores(
    cliques: Iterable[tuple[str, ...]],
    shows: Mapping[str, BoolArray],
    precision: Mapping[str, _Precision],
    weights: FloatArray,
) -> Iterator[Score]:
    """Precision of a category with and without the rest of a clique, where it differs most."""
    comparisons = []
    for clique in cliques:
        in_clique = np.all([shows[concept] for concept in clique], axis=0)
        for name in precision.keys() & {*clique}:
            sides = in_clique, shows[name] & ~in_clique
            n = min(sides[0].sum(), sides[1].sum())
            gap = precision[name](sides[0] * 1.0) - precision[name](sides[1] * 1.0)
            if n >= LEAST_IMAGES and not np.isnan(gap):
                comparisons.append((-abs(gap) * n**0.5, name, clique, sides, n))

    for _, name, clique, sides, n in sorted(comparisons, key=lambda row: row[:3])[:SHOWN]:
        others = " + ".join(concept for concept in clique if concept != name)
        inside = _apply(precision[name], weights * sides[0])
        outside = _apply(precision[name], weights * sides[1])
        gaps = inside - outside

        # The largest of many gaps are shown, some of few images: Bonferroni, and Student's t.
        wide = special.stdtrit(n - 1, 1 - 0.025 / len(comparisons)) / special.ndtri(0.975)
        gaps[1:] = gaps[0] + wide * (gaps[1:] - gaps[0])
        yield _score("clique_precision_gap", f"{name} with {others}", gaps, shows[name].sum())
        yield _score("clique_precision", f"{name} with {others}", inside, sides[0].sum())
        yield _score("clique_precision", f"{name} without {others}", outside, sides[1].sum())


def _score(metric: str, group: str, values: FloatArray, n: float) -> Score:
    """The first of some values, with limits by the basic bootstrap from the others, its draws."""
    # Draws lie too high, as the value does.
    least = -1 if metric.endswith("gap") else 0
    reflected = np.clip(2 * values[0] - values[1:], least, 1)
    return Score(metric, group, values[0], *percentiles(reflected, 0.95), n)


def _match(detections: pd.DataFrame, objects: pd.DataFrame) -> dict[str, _Precision]:
    """Match detections of each category that has boxes by pycocotools, see `_precision`."""
    from pycocotools.cocoeval import COCOeval

    judge = COCOeval(iouType="bbox")
    for boxes, frame in ((judge._gts, objects.dropna(subset="bbox")), (judge._dts, detections)):
        for number, row in enumerate(frame.to_dict("records"), start=1):
            row |= {"id": number, "bbox": list(row["bbox"]), "area": 1, "ignore": row["iscrowd"]}
            boxes[row["row"], row["concept"]].append(row)

    results = defaultdict[str, list[Any]](list)
    for image, concept in sorted({*judge._gts, *judge._dts}):
        judge.ious[image, concept] = judge.computeIoU(image, concept)
        # Objects of any size.
        results[concept].append(judge.evaluateImg(image, concept, (0, 1e10), 100))

    n_images = objects["row"].max() + 1
    return {name: _precision(results[name], n_images) for name in sorted(results)}


def _precision(evaluations: list[dict[str, Any]], n_images: int) -> _Precision:
    """Average precision as `COCOeval.accumulate` gives it, but by how often each image counts."""
    # A row for each image, of which the lists and arrays are joined into one.
    results = pd.DataFrame(evaluations)
    images, detected = results["image_id"], results["dtIds"].map(len)
    order = np.argsort(-np.concatenate(list(results["dtScores"])), kind="stable")
    image = np.repeat(images.to_numpy(), detected.to_numpy())[order]
    is_match = np.concatenate(list(results["dtMatches"]), axis=1)[:, order] > 0
    counts = ~np.concatenate(list(results["dtIgnore"]), axis=1)[:, order]
    n_objects = results["gtIgnore"].map(lambda ignored: np.sum(ignored == 0))
    objects = np.bincount(images, n_objects, n_images)

    def precision(weights: FloatArray) -> float:
        n = weights @ objects
        if not n:
            return float("nan")

        drawn = np.flatnonzero(weights[image])
        weight = weights[image[drawn]] * counts[:, drawn]
        right = np.cumsum(is_match[:, drawn] * weight, axis=1)
        by_rank = right / (np.cumsum(weight, axis=1) + np.spacing(1))

        best = np.maximum.accumulate(by_rank[:, ::-1], axis=1)[:, ::-1]
        ranks = np.array([np.searchsorted(recall, _RECALLS) for recall in right / n])
        # Nothing is precise beyond the highest recall.
        return float(np.take_along_axis(np.pad(best, ((0, 0), (0, 1))), ranks, axis=1).mean())

    return precision


PLUGIN = MetricPlugin(
    "detection_precision",
    "Average precision of a detector, by category and by what stands beside the object.",
    "evaluate",
    takes=("detections", "objects"),
    compute=_compute,
)
