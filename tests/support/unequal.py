"""Datasets of classes of unequal sizes, and their imbalances by exact fractions of their images."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import log, sqrt
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from cobalance.base.records import ImageRecord, Mention

CONCEPTS = ("potted plant", "stop_sign", "cow", "sofa_bed", "traffic light", "a", "A_")


class Row(NamedTuple):
    """What a row compares: images, names of classes, an exact difference, and natural logarithms.

    The classes with most and fewest images, and those with the highest and the lowest rate: the
    first by name of several, and None where all are equal.
    """

    counts: dict[str, int]
    most: str | None
    fewest: str | None
    gap: int
    highest: str | None
    lowest: str | None
    effect: Fraction
    log_odds: tuple[float, float, float]

    @property
    def pair(self) -> str:
        return f"{self.highest} vs {self.lowest}"

    @property
    def rate_difference(self) -> str:
        return f"+{float(self.effect):.1%} {self.pair}" if self.effect else "-"

    @property
    def log_odds_text(self) -> str:
        value, low, high = self.log_odds
        return f"{value:+.2f} [{low:.2f}, {high:.2f}]"


def images(n_classes: int) -> list[ImageRecord]:
    """Images of classes of 8 to a few hundred, each of which shows concepts at its own rates."""
    random, found = Random(n_classes), []
    for code in range(n_classes):
        name = ("living room", "living_room", "Den", "9")[code % 4] + f" {code:02}"
        rates = [random.random() for _ in CONCEPTS]
        for i in range(8 + 1200 * (n_classes - code) ** 2 // n_classes**3):
            shown = [c for c, rate in zip(CONCEPTS, rates, strict=True) if random.random() < rate]
            found.append(ImageRecord(f"{name} {i}", name, tuple(map(Mention, shown))))
    return found


def rows_of(records: list[ImageRecord], size: int = 2) -> dict[tuple[str, ...], Row]:
    """The row of each combination of up to `size` concepts, counted image by image."""
    sizes = Counter(record.class_name for record in records)
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for record in records:
        names = sorted({mention.concept for mention in record.mentions})
        for n in range(1, size + 1):
            for clique in combinations(names, n):
                counts.setdefault(clique, Counter())[record.class_name] += 1
    return {clique: _row({y: of[y] for y in sorted(sizes)}, sizes) for clique, of in counts.items()}


def _row(counts: dict[str, int], sizes: Counter[str]) -> Row:
    rates = {name: Fraction(n, sizes[name]) for name, n in counts.items()}
    most, fewest = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    highest, lowest = max(rates, key=rates.__getitem__), min(rates, key=rates.__getitem__)
    cells = [counts[highest], sizes[lowest] - counts[lowest]]
    cells += [sizes[highest] - counts[highest], counts[lowest]]
    a, b, c, d = (n + (0.5 if 0 in cells else 0) for n in cells)
    value, gap, effect = log(a * b / (c * d)), counts[most] - counts[fewest], rates[highest]
    wide = NormalDist().inv_cdf(0.975) * sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    effect -= rates[lowest]
    of_gap = (most, fewest) if gap else (None, None)
    of_rates = (highest, lowest) if effect else (None, None)
    odds = (value, value - wide, value + wide)
    return Row(counts, *of_gap, gap, *of_rates, effect, odds)
