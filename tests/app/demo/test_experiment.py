"""The experiment's parts, with one seed: the baselines, the accuracies and their summary."""

import numpy as np
import pandas as pd
import pytest

from app.demo import experiment
from app.demo.digits import Digits, make_test_digits, make_training_digits


@pytest.fixture(scope="module")
def runs(train: Digits) -> pd.DataFrame:
    more = [experiment.over_sampled(make_training_digits(seed), 0) for seed in range(1, 6)]
    balanced = experiment.TrainingSet(
        np.concatenate([of_seed.pixels for of_seed in more]),
        [name for of_seed in more for name in of_seed.classes],
    )
    return experiment.compare(train, make_test_digits(0, per_group=4), balanced, 0)


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
    test = make_test_digits(0, per_group=2)
    leans = np.where(np.isin(test.table["background"], ["brick", "gravel", "paper"]),
                     "eight", "three")  # fmt: skip
    found = experiment.measure_accuracies(lambda _: leans, test)
    assert found == {"cb": 0.5, "ood": 0.0, "id": 1.0}


def test_images_of_all_groups_break_the_shortcut(runs: pd.DataFrame) -> None:
    ood = runs.set_index("training")["ood"]
    cb = runs.set_index("training")["cb"]
    assert ood[experiment.BASE] < 0.35  # it follows the background
    assert ood[experiment.GENERATED] > ood[experiment.BASE] + 0.3
    assert cb[experiment.GENERATED] > cb[experiment.BASE] + 0.05


def test_a_summary_has_a_row_for_each_training_set(runs: pd.DataFrame) -> None:
    twice = pd.concat([runs, runs.assign(seed=1, ood=runs["ood"] - 0.1)])
    summary = experiment.summarise(twice)
    assert summary["training"].tolist() == runs["training"].tolist()
    assert summary["ood"].to_numpy() == pytest.approx((runs["ood"].to_numpy() - 0.05) * 100)
    assert summary["ood_sd"].to_numpy() == pytest.approx(10 / np.sqrt(2))
    assert experiment.summarise(runs)["cb_sd"].tolist() == [0.0] * len(runs)
    shown = experiment.for_people(summary)
    assert shown["CB %"].str.match(r"^\d+\.\d ± 0\.0$").all()
