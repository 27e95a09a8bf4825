"""Our clique miner against the quickest way to the same answer with PyFIM's C miners.

``python -m benchmarks.mining`` draws the data (once, into benchmarks/data), mines it in both ways
in one process and prints a table. The answer is the joint count in every class of every clique
whose largest per-class count is the support or more; it is checked to be equal. Times are the best
of a few runs: wall, and CPU time of all threads of the process, which a busy machine distorts less.

PyFIM (Borgelt, https://borgelt.net/pyfim.html) counts sets in one list of transactions, so the
classes take some care. The ways tried, each with several of its miners:

- "class items": one run over all images with the class as one more item. It finds each clique with
  each class that reaches the support, and the clique alone.
- "runs": one run a class and one over all images.
- "recount": one run a class; NumPy bitmaps for the counts below the support.

With two classes the first two know a count below the support as the difference to the total.
PyFIM's transactions are lists prepared beforehand and not counted; our time starts from the
incidence and includes sorting the result. Its answer is a dict, ours are arrays.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import fim
import numpy as np

from benchmarks.generate import Shape, load
from graph.cliques import Cliques, mine_cliques
from graph.incidence import Incidence

DATA = Path(__file__).parent / "data"
SHAPES = {
    "small": Shape(32_582, 80),
    "large": Shape(2_000_000, 600, mean=9.2, dispersion=3.0, topics=40, seed=3),
}
Answer = dict[tuple[int, ...], list[int]]
Sets = Iterable[tuple[tuple[int, ...], int]]
Miner = Callable[..., Sets]

MINERS: dict[str, Miner] = {
    "eclat": lambda rows, **options: fim.eclat(rows, algo="o", **options),
    "fpgrowth": lambda rows, **options: fim.fpgrowth(rows, algo="d", **options),
    "apriori": lambda rows, **options: fim.apriori(rows, **options),
}


class Transactions:
    """One incidence in the forms that PyFIM reads."""

    def __init__(self, incidence: Incidence) -> None:
        self.n_concepts = len(incidence.concepts)
        codes, bounds = incidence.indices.tolist(), incidence.indptr.tolist()
        labels = incidence.labels.tolist()
        self.all = [tuple(codes[a:b]) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        self.with_class = [
            (*row, self.n_concepts + label) for row, label in zip(self.all, labels, strict=True)
        ]
        self.by_class: list[list[tuple[int, ...]]] = [[] for _ in incidence.classes]
        for row, label in zip(self.all, labels, strict=True):
            self.by_class[label].append(row)
        self.incidence = incidence


def class_items(data: Transactions, miner: Miner, support: int, size: int) -> Answer:
    """Mine once, with the class as an item."""
    first_class = data.n_concepts
    totals = {}
    answer: Answer = {}
    for members, count in miner(data.with_class, supp=-support, zmin=1, zmax=size + 1):
        label = max(members) - first_class
        if label < 0:
            if len(members) <= size:
                totals[frozenset(members)] = count
        elif len(members) > 1:
            concepts = frozenset(members) - {first_class + label}
            answer.setdefault(concepts, [-1, -1])[label] = count
    return _differences(answer, totals)


def runs(data: Transactions, miner: Miner, support: int, size: int) -> Answer:
    """Mine each class, then all."""
    answer: Answer = {}
    for label, rows in enumerate(data.by_class):
        for members, count in miner(rows, supp=-support, zmin=1, zmax=size):
            answer.setdefault(frozenset(members), [-1, -1])[label] = count
    totals = {
        frozenset(members): count
        for members, count in miner(data.all, supp=-support, zmin=1, zmax=size)
    }
    return _differences(answer, totals)
