"""Plans of whole images: what they leave, beside the simplest plan of the kind and conbias.

    python -m benchmarks.whole_images [--seed 1] [--draws 6x80x9500,...] [--budgets 0.05,0.2,0.5]

Images of unequal classes are drawn with strong, weak and no leans of concepts and pairs. Beside
the planner stand conbias within the budget and *transplants*: greedily, the concept sets of real
images of other classes, each once a class, by how much they bring the classes' rates together.
Figures are of cliques of sizes 1 and 2, from single concepts on.
"""

import argparse
import time

import numpy as np

from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import Incidence, build_incidence
from cobalance.generation.planning.effects import measure, measure_told
from cobalance.generation.planning.lean import CliqueSets
from cobalance.generation.planning.plan import PlannedImages, PlanOptions, run_planner
from cobalance.generation.planning.planners import PLANNERS
from cobalance.generation.planning.simulation import simulate_images

DRAWS = "2x20x2000,2x80x5000,3x40x2000,6x80x9500,6x200x6000,12x200x12000,20x80x20000,4x600x8000"
STEP = 25  # images that a transplant chooses at once


def draw(n_classes: int, n_concepts: int, n_images: int, seed: int) -> Incidence:
    """Draw images of unequal classes, each with four concepts that it shows six times as often."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_classes, 0.8)) * 0.9 + 0.1 / n_classes
    labels = np.repeat(np.arange(n_classes), np.sort((shares * n_images).astype(int))[::-1])
    base = np.clip(rng.lognormal(-4.6 if n_concepts > 100 else -3.4, 0.9, n_concepts), 0.001, 0.5)
    lift = np.exp(rng.normal(0, 0.35, (n_classes, n_concepts)))
    for of_class in lift:
        of_class[rng.choice(n_concepts, 4, replace=False)] *= 6
    shows = rng.random((len(labels), n_concepts)) < np.clip(base * lift, 0, 0.8)[labels]
    shows |= (rng.random((len(labels), 1)) < 0.3) & np.roll(shows, 1, axis=1)
    images, codes = np.nonzero(shows)
    concepts = [f"c{code:03d}" for code in range(n_concepts)]
    return build_incidence(images, codes, labels, concepts, [f"k{k:02d}" for k in range(n_classes)])


def transplant(cliques: Cliques, images: Incidence, budget: int) -> PlannedImages:
    """Plan concept sets of real images, in the order of their gain in squared rate differences."""
    shown = CliqueSets(cliques).find_shown(images.matrix())
    counts, sizes = cliques.counts.T.astype(float), cliques.class_sizes.astype(float)
    rate = counts.sum(axis=0) / sizes.sum()
    weights = 1 / np.maximum(rate * (1 - rate), 5e-4)
    used = images.labels[:, None] == np.arange(len(sizes))
    rows: list[int] = []
    codes: list[int] = []
    while len(rows) < budget:
        rates = counts / sizes[:, None]
        slope = (rates - rates.mean(axis=0)) * weights
        gain = (
            -2 * (shown @ slope.T - (rates * slope).sum(axis=1))
            - (shown @ weights)[:, None] / sizes
        )
        gain = np.where(used, -np.inf, gain / sizes)
        top = [np.argpartition(-of_class, STEP)[:STEP] for of_class in gain.T]
        code = int(np.argmax([gain[of, at].mean() for at, of in enumerate(top)]))
        chosen = top[code][: budget - len(rows)]
        if gain[chosen, code].mean() <= 0:
            break
        counts[code] += np.asarray(shown[chosen].sum(axis=0)).ravel()
        sizes[code] += len(chosen)
        used[chosen, code] = True
        rows += chosen.tolist()
        codes += [code] * len(chosen)
    lengths = np.diff(images.indptr)[rows]
    members = np.full((len(rows), lengths.max(initial=1)), -1)
    members[np.arange(members.shape[1]) < lengths[:, None]] = images.take(np.array(rows)).indices
    planned = np.zeros((len(rows), len(sizes)), dtype=np.int64)
    planned[np.arange(len(rows)), codes] = 1
    return PlannedImages(planned, members=members)


def main() -> None:
    """Print a line for each plan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", default=DRAWS)
    parser.add_argument("--budgets", default="0.05,0.2,0.5")
    given = parser.parse_args()
    for text in given.draws.split(","):
        n_classes, n_concepts, n_images = map(int, text.split("x"))
        images = draw(n_classes, n_concepts, n_images, given.seed)
        cliques = mine_cliques(images, max_size=2, common=())
        every, real = np.arange(len(cliques)), np.diff(images.indptr).mean()
        print(f"{text}: {len(cliques):,} cliques, {real:.1f} concepts an image", flush=True)
        for share in map(float, given.budgets.split(",")):
            budget = round(share * len(images.labels))
            for name in ("whole-images", "transplants", "conbias"):
                started = time.perf_counter()
                if name == "transplants":
                    made = transplant(cliques, images, budget)
                else:
                    options = PlanOptions(1, budget=budget)
                    made = run_planner(cliques, PLANNERS.open(name), options, None, images)
                seconds = time.perf_counter() - started
                found = measure(cliques, simulate_images(cliques, made), made, every)
                found |= measure_told(cliques, made, images)
                n = made.images.sum(axis=1)
                held = (made.sets(cliques).members >= 0).sum(axis=1)
                print(
                    f"  {share:.0%} {name}: {found['images']:,} images in {found['queries']:,} "
                    f"queries; leaning {found['leaning_before']:,} -> {found['leaning']:,}; rate "
                    f"differences {found['difference_before']:.2f} -> {found['difference']:.2f}, "
                    f"largest {found['largest_before']:.2f} -> {found['largest']:.2f}; "
                    f"{found['widened']:,} widened; bits of concepts alone "
                    f"{found['bits_before']:.2f} -> {found['bits']:.2f}; "
                    f"{n @ held / max(1, n.sum()) / real:.2f} times as full; {seconds:.1f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
