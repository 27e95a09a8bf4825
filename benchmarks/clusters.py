"""Level, false discovery rate and power with images in clusters: `python -m benchmarks.clusters`.

2,000 datasets a row, drawn with a fixed seed, of two classes and ten concepts of 5% to 50%, of
which three lean to a class where that is asked for. How often a cluster's images show a concept is
drawn for each cluster (of photographers, for each class in it) from a beta distribution with a
correlation of 0.3 within clusters. Patients are of one class each, photographers have images of
both. In brackets: the same images taken as independent, as they are without clusters.

A second table is of concepts that occur together: patients' images, whatever their class, in which
no two concepts depend on each other, or three pairs do by half: half of the images show the second
concept of a pair by the same draw as the first.
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import Incidence, build_incidence
from cobalance.statistics.clustered_tests import clustered_p_values
from cobalance.statistics.cooccurrences import cooccurrence_table
from cobalance.statistics.design_effects import with_clusters
from cobalance.statistics.own_effect import own_effects
from cobalance.statistics.q_values import q_values

RATES = np.array([0.5, 0.3, 0.1, 0.4, 0.3, 0.2, 0.2, 0.1, 0.1, 0.05])
LEANING = 3  # the first ones
WITHIN = 0.3  # correlation
ALPHA = 0.05
DESIGNS = ((1, 600), (10, 20), (10, 60), (100, 20), (100, 60))  # images, clusters
DEPENDENT = ((0, 1), (2, 3), (4, 5))


@dataclass(frozen=True)
class Design:
    """Images of a dataset: clusters of equal size, each of one class or across both."""

    clusters: int
    size: int
    across: bool

    def draw(
        self, rng: np.random.Generator, lean: float, n_concepts: int, together: float = 0
    ) -> Incidence:
        """Draw a dataset.

        `lean` is the log odds ratio of the leaning concepts, `together` the share of images in
        which dependent concepts are drawn as one.
        """
        cluster = np.repeat(np.arange(self.clusters), self.size)
        labels = rng.integers(0, 2, len(cluster)) if self.across else cluster % 2
        unit = 2 * cluster + labels
        odds = RATES[:n_concepts] / (1 - RATES[:n_concepts])
        shift = np.exp(lean * np.where(np.arange(n_concepts) < LEANING, 0.5, 0))
        rates = np.stack([odds * shift, odds / shift])
        rates = (rates / (1 + rates))[np.arange(2 * self.clusters) % 2]
        strength = 1 / WITHIN - 1
        shares = rng.beta(rates * strength, (1 - rates) * strength)
        drawn = rng.random((len(cluster), n_concepts))
        for one, other in DEPENDENT if together else ():
            as_one = rng.random(len(drawn)) < together
            drawn[as_one, other] = drawn[as_one, one]
        shows = drawn < shares[unit]
        images, codes = np.nonzero(shows)
        names = [f"concept {code}" for code in range(n_concepts)]
        incidence = build_incidence(images, codes, labels, names, ["one", "other"])
        return replace(incidence, clusters=cluster)


def simulate(design: Design, n_datasets: int, lean: float) -> Iterator[tuple[float, ...]]:
    """Yield, by cluster and not, shares of each dataset.

    Rejected of those without a lean; false among the discoveries; discovered of those with one.
    """
    rng = np.random.default_rng([design.clusters, design.size, design.across])
    for _ in range(n_datasets):
        incidence = design.draw(rng, lean, len(RATES))
        cliques = with_clusters(mine_cliques(incidence, max_size=1, common=()), incidence)
        first = [int(name[0].split()[1]) for name in cliques.names()]
        leans = np.isin(first, np.arange(LEANING)) & (lean > 0)
        row: list[float] = []
        for some in (cliques, replace(cliques, clustering=None)):
            p_values, _ = clustered_p_values(some)
            found = q_values(p_values) <= ALPHA
            row += [
                float((p_values <= ALPHA)[~leans].mean()),
                float((found & ~leans).sum() / max(found.sum(), 1)),
                float(found[leans].sum() / LEANING),
            ]
        yield tuple(row)


def simulate_pairs(design: Design, n_datasets: int) -> Iterator[tuple[float, ...]]:
    """Yield, by cluster and not, rejected shares of pairs: of one rate, and of no own effect."""
    rng = np.random.default_rng([design.clusters, design.size, design.across, 2])
    for _ in range(n_datasets):
        incidence = design.draw(rng, 0.0, 5)
        cliques = with_clusters(mine_cliques(incidence, max_size=2, common=()), incidence)
        pairs, row = cliques.sizes() == 2, list[float]()
        for some in (cliques, replace(cliques, clustering=None)):
            row.append(float((clustered_p_values(some)[0] <= ALPHA)[pairs].mean()))
            row.append(float((own_effects(some)["own_p_value"] <= ALPHA)[pairs].mean()))
        yield tuple(row)


def simulate_together(design: Design, n_datasets: int, together: float) -> Iterator[np.ndarray]:
    """Yield, by cluster and not, shares of what occurs together in each dataset.

    Rejected of pairs that do not depend on each other; false among the discoveries; discovered of
    those that do.
    """
    rng = np.random.default_rng([design.clusters, design.size, 3])
    pairs = {(f"concept {one}", f"concept {other}") for one, other in DEPENDENT if together}
    for _ in range(n_datasets):
        incidence = design.draw(rng, 0.0, len(RATES), together)
        cliques = with_clusters(mine_cliques(incidence, max_size=2, common=()), incidence)
        row: list[float] = []
        for some in (incidence, None):
            table = cooccurrence_table(cliques, some)
            depends = table["concepts"].isin(pairs)
            rejected, found = table["p_value"] <= ALPHA, table["q_value"] <= ALPHA
            row.append(rejected[~depends].mean())
            row.append((found & ~depends).sum() / max(found.sum(), 1))
            row.append(found[depends].sum() / len(DEPENDENT))
        yield np.array(row)


def cells(found: Iterable[tuple[float, float]]) -> str:
    """By cluster, and in brackets not."""
    return " | ".join(f"{one:.1%} ({today:.1%})" for one, today in found)


def main() -> None:
    """Simulate every design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=2000)
    n_datasets = parser.parse_args().datasets
    print(
        "clusters of images | p <= 5% of null | FDR of null data | FDR | power | pairs | own effect"
    )
    for size, n_clusters in DESIGNS:
        for across in (False, True):
            design = Design(n_clusters, size, across)
            null, mixed = (
                np.mean([*simulate(design, n_datasets, lean)], axis=0) for lean in (0.0, 1.5)
            )
            pairs = np.nanmean([*simulate_pairs(design, max(n_datasets // 4, 1))], axis=0)
            shown = [(null[0], null[3]), (null[1], null[4]), (mixed[1], mixed[4])]
            shown += [(mixed[2], mixed[5]), (pairs[0], pairs[2]), (pairs[1], pairs[3])]
            what = "photographers" if across else "patients"
            print(f"{n_clusters} {what} of {size} | {cells(shown)}", flush=True)
    print("clusters of images | p <= 5% of null | FDR of null data | FDR | power")
    for size, n_clusters in DESIGNS:
        design = Design(n_clusters, size, across=False)
        null = np.nanmean([*simulate_together(design, n_datasets, 0.0)], axis=0)
        some = np.nanmean([*simulate_together(design, max(n_datasets // 4, 1), 0.5)], axis=0)
        shown = [*zip(null[:2], null[3:5], strict=True), *zip(some[1:3], some[4:], strict=True)]
        print(f"{n_clusters} clusters of {size} | {cells(shown)}", flush=True)


if __name__ == "__main__":
    main()
