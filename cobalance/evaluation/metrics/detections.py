"""Average precision of a detector, by category and by what stands beside the object."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base.arrays import BoolArray, FloatArray
from cobalance.base.libraries import special
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
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
    images = pd.Series(sorted(set(objects["image"]), key=lambda one: (len(one), one)))
    objects = objects.assign(at=known_rows(objects["image"], images, "objects"))
    at = known_rows(detections["image"], images, "detections", "objects")
    precision = _match(detections.assign(at=at), objects)
    weights = _draw(objects, inputs.generator())
    named = objects.dropna(subset="concept")
    code, concepts = pd.factorize(named["concept"].astype(object))
    incidence = build_incidence(named["at"], code, np.zeros(len(images)), list(concepts), [""])
    shows = dict(zip(incidence.concepts, incidence.matrix().toarray().T > 0, strict=True))
    each = {name: np.array([of(row) for row in weights]) for name, of in precision.items()}
    mean = pd.DataFrame(each, index=range(DRAWS + 1)).mean(axis=1).to_numpy()
    shown = {name: np.sum(shows.get(name, 0)) for name in each}
    scores = [_score("detection_precision", "", mean, len(images))]
    scores += [_score("detection_precision", name, each[name], shown[name]) for name in each]
    cliques = mine_cliques(incidence, max_size=3, min_support=LEAST_IMAGES).names()
    return score_rows([*scores, *_clique_scores(cliques, shows, precision, weights)])


def _draw(objects: pd.DataFrame, rng: np.random.Generator) -> FloatArray:
    """How often each image counts: once, and in draws of clusters, shape (1 + DRAWS, n_images)."""
    clusters = objects.get("cluster", objects["image"]).fillna(objects["image"])
    unit, units = pd.factorize(clusters.groupby(objects["at"]).first())
    drawn = rng.multinomial(len(units), np.full(len(units), 1 / len(units)), DRAWS)
    return np.vstack([np.ones(len(unit)), drawn[:, unit]])


def _clique_scores(
    cliques: Iterable[tuple[str, ...]],
    shows: Mapping[str, BoolArray],
    precision: Mapping[str, _Precision],
    weights: FloatArray,
) -> Iterator[Score]:
    """Precision of a category with and without the rest of a clique, where it differs most."""
    found = []
    for clique in cliques:
        inside = np.all([shows[one] for one in clique], axis=0)
        for name in precision.keys() & {*clique}:
            sides = inside, shows[name] & ~inside
            n = min(side.sum() for side in sides)
            gap = precision[name](sides[0] * 1.0) - precision[name](sides[1] * 1.0)
            if n >= LEAST_IMAGES and not np.isnan(gap):
                found.append((-abs(gap) * n**0.5, name, clique, sides, n))
    for _, name, clique, sides, n in sorted(found, key=lambda one: one[:3])[:SHOWN]:
        others = " + ".join(one for one in clique if one != name)
        inside, outside = (np.array([precision[name](row * on) for row in weights]) for on in sides)
        gaps = inside - outside
        wide = special.stdtrit(n - 1, 1 - 0.025 / len(found)) / special.ndtri(0.975)
        gaps[1:] = gaps[0] + wide * (gaps[1:] - gaps[0])  # Bonferroni, of few images by Student's t
        yield _score("clique_precision_gap", f"{name} with {others}", gaps, shows[name].sum())
        yield _score("clique_precision", f"{name} with {others}", inside, sides[0].sum())
        yield _score("clique_precision", f"{name} without {others}", outside, sides[1].sum())


def _score(metric: str, group: str, values: FloatArray, n: float) -> Score:
    """The first of some values, with limits by the basic bootstrap from the others, its draws."""
    # Draws lie too high, as the value does.
    reflected = np.clip(2 * values[0] - values[1:], -1 if metric.endswith("gap") else 0, 1)
    return Score(metric, group, values[0], *percentiles(reflected, 0.95), n)


def _match(detections: pd.DataFrame, objects: pd.DataFrame) -> dict[str, _Precision]:
    """Match detections of each category that has boxes by pycocotools, see `_precision`."""
    from pycocotools.cocoeval import COCOeval

    judge = COCOeval(iouType="bbox")
    for held, frame in ((judge._gts, objects.dropna(subset="bbox")), (judge._dts, detections)):
        for at, row in enumerate(frame.to_dict("records"), start=1):
            row |= {"id": at, "bbox": list(row["bbox"]), "area": 1, "ignore": row["iscrowd"]}
            held[row["at"], row["concept"]].append(row)
    results = defaultdict[str, list[Any]](list)
    for key in sorted({*judge._gts, *judge._dts}):
        judge.ious[key] = judge.computeIoU(*key)
        results[key[1]].append(judge.evaluateImg(*key, (0, 1e10), 100))  # objects of any size
    return {name: _precision(results[name], objects["at"].max() + 1) for name in sorted(results)}


def _precision(found: list[dict[str, Any]], n_images: int) -> _Precision:
    """Average precision as `COCOeval.accumulate` gives it, but by how often each image counts."""
    at = [one["image_id"] for one in found]
    order = np.argsort(-np.concatenate([one["dtScores"] for one in found]), kind="stable")
    image = np.repeat(at, [len(one["dtIds"]) for one in found])[order]
    matched = np.concatenate([one["dtMatches"] for one in found], axis=1)[:, order] > 0
    counted = ~np.concatenate([one["dtIgnore"] for one in found], axis=1)[:, order]
    objects = np.bincount(at, [np.sum(one["gtIgnore"] == 0) for one in found], n_images)

    def precision(weights: FloatArray) -> float:
        n = weights @ objects
        if not n:
            return float("nan")
        kept = np.flatnonzero(weights[image])
        weight = weights[image[kept]] * counted[:, kept]
        right = np.cumsum(matched[:, kept] * weight, axis=1)
        each = right / (np.cumsum(weight, axis=1) + np.spacing(1))
        best = np.maximum.accumulate(each[:, ::-1], axis=1)[:, ::-1]
        found = np.array([np.searchsorted(recall, _RECALLS) for recall in right / n])
        # Nothing is precise beyond the highest recall.
        return float(np.take_along_axis(np.pad(best, ((0, 0), (0, 1))), found, axis=1).mean())

    return precision


PLUGIN = MetricPlugin(
    "detection_precision",
    "Average precision of a detector, by category and by what stands beside the object.",
    "evaluate",
    takes=("detections", "objects"),
    compute=_compute,
)
