"""The experiment's mechanism, with one seed: the plan, the baselines, and that accuracy rises."""

import numpy as np
import pandas as pd
import pytest

from app.demo import experiment
from app.demo.digits import Digits, make_test_digits, make_training_digits
from generation.backends import BACKENDS
from generation.planning.plan import Plan


@pytest.fixture(scope="module")
def train() -> Digits:
    return make_training_digits(400, 0)


@pytest.fixture(scope="module")
def wanted(train: Digits) -> Plan:
    return experiment.plan_for(train)


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    return experiment.run_experiment((0,), per_class=400, per_group=4)


def test_the_plan_leaves_no_gap(train: Digits, wanted: Plan) -> None:
    made = [(query.class_name, *query.concepts) for query in wanted.queries for _ in range(query.n)]
    own = train.table[["class_name", "background", "thing"]].itertuples(index=False, name=None)
    images = [(label, set(concepts)) for label, *concepts in [*own, *made]]
    names = sorted(set(train.table["background"]) | set(train.table["thing"]))
    cliques = [{name} for name in names]
    cliques += [{first, second} for first in names for second in names if first < second]
    for clique in cliques:
        counts = {
            label: sum(label == of and clique <= concepts for of, concepts in images)
            for label in ("eight", "three")
        }
        assert counts["eight"] == counts["three"], clique


def test_generated_images_are_as_planned_and_the_same_again(train: Digits, wanted: Plan) -> None:
    few = Plan(wanted.planner, wanted.options, wanted.queries[:2])
    first, second = (
        experiment.generate(train, few, BACKENDS.open("procedural", experiment.MAKING), 0)
        for _ in range(2)
    )
    assert len(first.classes) == len(first.pixels) == few.images
    assert np.array_equal(first.pixels, second.pixels)


def test_the_baselines_give_every_group_the_same_weight(train: Digits) -> None:
    groups = train.table.groupby(["class_name", "background_agrees", "thing_agrees"]).indices
    weights = experiment.weighted(train).weights
    assert weights.mean() == pytest.approx(1)
    assert all(weights[rows].sum() == pytest.approx(100) for rows in groups.values())
    repeated = experiment.over_sampled(train, 0)
    assert len(repeated.classes) == 8 * 361
    assert repeated.classes.count("eight") == 4 * 361
    flat = {pixels.tobytes() for pixels in train.pixels}
    assert {pixels.tobytes() for pixels in repeated.pixels} == flat


def test_accuracies_are_of_the_right_images() -> None:
    test = make_test_digits(2, 0)
    leans = np.where(np.isin(test.table["background"], ["brick", "gravel", "paper"]),
                     "eight", "three")  # fmt: skip
    found = experiment.measure_accuracies(lambda _: leans, test)
    assert found == {"cb": 0.5, "ood": 0.0, "id": 1.0}


def test_generated_images_break_the_shortcut(runs: pd.DataFrame) -> None:
    ood = runs.set_index("training")["ood"]
    cb = runs.set_index("training")["cb"]
    assert ood[experiment.BASE] < 0.35  # it follows the background
    assert ood[experiment.EXEMPLARS] > ood[experiment.BASE] + 0.3
    assert ood[experiment.INVENTED] > ood[experiment.BASE] + 0.1
    assert cb[experiment.EXEMPLARS] > cb[experiment.BASE] + 0.05


def test_a_summary_has_a_row_for_each_training_set(runs: pd.DataFrame) -> None:
    twice = pd.concat([runs, runs.assign(seed=1, ood=runs["ood"] - 0.1)])
    summary = experiment.summarise(twice)
    assert summary["training"].tolist() == runs["training"].tolist()
    assert summary["ood"].to_numpy() == pytest.approx((runs["ood"].to_numpy() - 0.05) * 100)
    assert summary["ood_sd"].to_numpy() == pytest.approx(10 / np.sqrt(2))
    assert experiment.summarise(runs)["cb_sd"].tolist() == [0.0] * len(runs)
    shown = experiment.for_people(summary)
    assert shown["CB %"].str.match(r"^\d+\.\d ± 0\.0$").all()
