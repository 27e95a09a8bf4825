"""Datasets of three and of two classes with hostile names, their plan, and a second version."""

import uuid
from random import Random

import numpy as np
import pandas as pd
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.evaluations.writing import NewEvaluation, create_evaluations, save_scores
from cobalance.workflows.plan.planners import plan_dataset
from cobalance.workflows.report.contents import ReportOptions, read_contents
from cobalance.workflows.report.page import page
from tests.workflows.report.reading import Read

CONCEPTS = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'ticked'",
    "\u0634\u0627\u0631\u0639 road",
    "turned \u202e round",
    "x" * 1000,
    "plain",
)
CLASSES = ("<b>fox</b>", "gull", "owl \u202e")
SIZES = (60, 240, 31)
SCORES = pd.DataFrame(
    {
        "metric": ["accuracy", "worst_group"],
        "group": ["", "<u>"],
        "value": [0.75, 0.5],
        "low": [0.7, np.nan],
        "high": [0.8, np.nan],
        "n": [40, 0],
    }
)


def images(more: int = 0) -> list[ImageRecord]:
    """Each class shows each concept with a rate of its own; the second version has more foxes."""
    random, found = Random(7), []
    for code, (name, n) in enumerate(zip(CLASSES, SIZES, strict=True)):
        for at in range(n):
            shown = [
                c for i, c in enumerate(CONCEPTS) if random.random() < 0.15 + 0.2 * (i % 3 == code)
            ]
            found.append(
                ImageRecord(
                    f"{code}/{at}", name, tuple(map(Mention, shown)), ("train", None)[at % 2]
                )
            )
    extra = (Mention(CONCEPTS[5]), Mention(CONCEPTS[2]))
    return found + [ImageRecord(f"more/{at}", CLASSES[0], extra, "train") for at in range(more)]


@pytest.fixture(scope="session")
def hostile(store):
    """Names of the dataset, of its second version and of an evaluation; the plan is "small"."""
    name, other = (f"test {uuid.uuid4()} <&>" for _ in range(2))
    for dataset, more in ((name, 0), (other, 90)):
        records = Annotations.from_records(images(more))
        write_annotations(store, dataset, records, source="s3://key:secret@bucket/<file>.csv")
        mine_dataset(store, dataset, MiningOptions(2), max_cliques=1000)
    plan_dataset(store, name, "conbias", PlanOptions(1, 2), "small")
    (evaluation,) = create_evaluations(
        store, [NewEvaluation("erm <i>", 3)], train=name, test=name, extra=None
    )
    save_scores(store, evaluation, SCORES)
    yield name, other, evaluation
    for dataset in (name, other):
        drop_dataset(store, dataset)


@pytest.fixture(scope="session")
def contents(store, hostile):
    name, other, evaluation = hostile
    return read_contents(store, name, ReportOptions(other, "small", evaluation, "2026-01-02"))


@pytest.fixture(scope="session")
def read(contents):
    return Read(page(contents).encode())
