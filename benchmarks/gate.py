"""How quiet a gate is, and how awake: `python -m benchmarks.gate`.

Draws data of two, six and twenty classes, adds 1% of random images in each of many commits, plants
leans, and prints how often the gate fails; then what a verdict takes. `--draws 0.1` draws a tenth.
"""

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cobalance.base import STRING, Annotations, FloatArray
from cobalance.workflows.gate.rules import Rules
from cobalance.workflows.gate.subjects import Subject
from cobalance.workflows.gate.verdict import judge

CONCEPTS = 40
SHAPES = {
    2: (1000, 1000),
    6: (4200, 2400, 1400, 900, 450, 150),
    20: tuple(round(900 * 0.85**rank) + 60 for rank in range(20)),
}
"""Images of each class, by number of classes."""


@dataclass(frozen=True, eq=False)
class World:
    """Rates by which images are drawn: (n_classes, n_concepts)."""

    rates: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator, n_classes: int, spread: float) -> "World":
        """Rates from 0.5% to 50%; `spread` is by how much classes differ, in log odds."""
        base = rng.uniform(np.log(0.005), np.log(0.5), CONCEPTS)
        odds = np.exp(base) / (1 - np.exp(base))
        odds = odds * np.exp(spread * rng.standard_normal((n_classes, CONCEPTS)))
        return cls(odds / (1 + odds))

    def images(self, rng: np.random.Generator, sizes: tuple[int, ...], first: int = 0) -> "Drawn":
        """Draw the images of each class, numbered from `first`."""
        labels = np.repeat(np.arange(len(sizes)), sizes)
        shows = rng.random((len(labels), CONCEPTS)) < self.rates[labels]
        return Drawn(labels, shows, np.arange(first, first + len(labels)))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Images: their class, the concepts they show (n_images, n_concepts), and their number."""

    labels: "np.ndarray[tuple[int], np.dtype[np.int64]]"
    shows: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]"
    numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]"

    def with_images(self, others: "Drawn") -> "Drawn":
        """These images and others."""
        return Drawn(
            np.append(self.labels, others.labels),
            np.concatenate([self.shows, others.shows]),
            np.append(self.numbers, others.numbers),
        )

    def planted(self, rng: np.random.Generator, share: float) -> "Drawn":
        """With the first two concepts in a further share of the images of the first class."""
        shows = self.shows.copy()
        candidates = np.flatnonzero((self.labels == 0) & ~shows[:, :2].all(axis=1))
        n_planted = round(share * np.count_nonzero(self.labels == 0))
        shows[rng.choice(candidates, n_planted, replace=False), :2] = True
        return replace(self, shows=shows)

    def subject(self) -> Subject:
        """The images as a gate takes them."""
        n_classes = int(self.labels.max()) + 1
        names = pd.Index([f"class {code:02}" for code in range(n_classes)])
        images = pd.DataFrame(
            {
                "id": pd.array([f"{number}.jpg" for number in self.numbers.tolist()], dtype=STRING),
                "class_name": pd.Categorical.from_codes(self.labels, names),
                "split": None,
            }
        )
        row, concept = np.nonzero(self.shows)
        concepts = pd.Index([f"concept {code:02}" for code in range(CONCEPTS)])
        mentions = pd.DataFrame(
            {"image": row, "concept": pd.Categorical.from_codes(concept, concepts)}
        )
        annotations = Annotations(images, mentions)
        return Subject(
            "drawn", annotations, pd.DataFrame(columns=["what", "group", "splits", "id"])
        )


@dataclass
class Line:
    """A line of the table."""

    what: str
    aim: str
    draws: int = 0
    fails: int = 0

    def count(self, failed: bool) -> None:
        """Count one more verdict."""
        self.draws += 1
        self.fails += failed

    def print(self) -> None:
        """Print it, with the share that fails."""
        print(f"{self.what:<58} {self.fails:>5,} of {self.draws:>5,} {self.aim:>8}", flush=True)


def quiet_commits(n_classes: int, draws: int) -> Line:
    """Commits of 1% random images each, onto data with many leans and a baseline of it."""
    rng = np.random.default_rng(n_classes)
    line = Line(f"{n_classes} classes: a commit adds 1% random images", "<= 1%")
    sizes = SHAPES[n_classes]
    while line.draws < draws:
        world = World.draw(rng, n_classes, spread=0.5)
        before = world.images(rng, sizes)
        baseline = judge(before.subject(), Rules()).make_baseline()
        # Ten commits onto each; the baseline stays that of the first.
        for _ in range(min(10, draws - line.draws)):
            shares = np.array(sizes) / sum(sizes)
            codes = rng.choice(n_classes, max(1, sum(sizes) // 100), p=shares)
            further = world.images(rng, tuple(np.bincount(codes, minlength=n_classes)), 10**6)
            after = before.with_images(further)
            line.count(not judge(after.subject(), Rules(), baseline).passed)
    return line


def quiet_files(n_classes: int, draws: int) -> Line:
    """Files without any lean, and no baseline."""
    rng = np.random.default_rng(100 + n_classes)
    line = Line(f"{n_classes} classes: a file without a lean, no baseline", "<= 1%")
    for _ in range(draws):
        rates = World.draw(rng, 1, spread=0.0).rates
        world = World(np.repeat(rates, n_classes, axis=0))
        images = world.images(rng, SHAPES[n_classes])
        line.count(not judge(images.subject(), Rules()).passed)
    return line


def awake(draws: int, rate: float) -> tuple[Line, Line]:
    """A lean of 5 points planted in a pair of 1,000 images a class, and one that doubles.

    `rate` is that of each of the two concepts, which are independent before.
    """
    rng = np.random.default_rng(7)
    planted = Line(f"a lean of 5 points in a pair that {rate**2:.0%} show", ">= 99%")
    doubled = Line(f"the same lean doubles beyond the baseline ({rate**2:.0%})", ">= 99%")
    for _ in range(draws):
        rates = World.draw(rng, 1, spread=0.0).rates
        rates[:, :2] = rate
        images = World(np.repeat(rates, 2, axis=0)).images(rng, (1000, 1000))
        leaning = images.planted(rng, 0.05)
        verdict = judge(leaning.subject(), Rules())
        planted.count(not verdict.passed)
        twice = leaning.planted(rng, 0.05)
        doubled.count(not judge(twice.subject(), Rules(), verdict.make_baseline()).passed)
    return planted, doubled


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=float, default=1.0, help="Share of the draws.")
    share = parser.parse_args().draws

    start = time.process_time()
    print(f"{'':<58} {'fails':>14} {'aim':>8}")
    for n_classes in SHAPES:
        quiet_commits(n_classes, round(1000 * share)).print()
    for n_classes in SHAPES:
        quiet_files(n_classes, round(1000 * share)).print()
    for rate in (0.1, 0.2):
        for line in awake(round(500 * share), rate):
            line.print()
    print(f"{time.process_time() - start:,.0f} s of CPU")


if __name__ == "__main__":
    main()
