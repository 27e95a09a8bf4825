"""The full demonstration's parts: accuracies, their table, and the seeds' images."""

import numpy as np
import pandas as pd

from cobalance.evaluation.predictions import check_predictions
from cobalance.evaluation.shortcuts import shortcut_groups
from cobalance.workflows.demo import full
from cobalance.workflows.demo.draw_digits import (
    THINGS,
    make_held_out_digits,
    make_test_digits,
    make_training_digits,
)


def test_accuracies_are_of_the_right_images() -> None:
    test = make_test_digits(0, per_group=2)
    leans = np.where(np.isin(test.table["background"], ["brick", "gravel", "paper"]),
                     "eight", "three")  # fmt: skip
    images = test.table.rename(columns={"id": "image"})
    images["concepts"] = test.table[["background", "thing"]].to_numpy().tolist()
    groups = shortcut_groups(images, full.SHORTCUTS)
    predictions = check_predictions(
        images[["image", "class_name"]].assign(predicted=leans, seed=0, method="")
    ).merge(groups, on="image")
    assert full.measure_accuracies(predictions) == {"cb": 0.5, "worst": 0.0, "ood": 0.0, "id": 1.0}
    # Right on one half of the worst group alone.
    some = (images["class_name"] == "eight") & ~images["thing"].isin(THINGS["eight"])
    half = predictions.assign(predicted=np.where(some, leans, images["class_name"]))
    half.loc[half.index % 2 == 0, "predicted"] = half["class_name"]
    assert full.measure_accuracies(half) == {
        "cb": 1 - 0.5 / 8, "worst": 0.5, "ood": 0.75, "id": 1.0
    }  # fmt: skip


def test_the_table_has_a_row_for_each_line() -> None:
    runs = pd.DataFrame(
        {
            "seed": 0,
            "training": ["D", "made"],
            "images": [800, 1440],
            **{name: [0.5, 0.75] for name in full.MEASURES},
        }
    )
    twice = pd.concat([runs, runs.assign(seed=1, ood=runs["ood"] - 0.1, images=[801, 1440])])
    shown = full.accuracy_table(twice)
    assert shown["trained on"].tolist() == ["D", "made"]
    assert shown["images"].tolist() == [800, 1440]
    assert shown["balanced %"].tolist() == ["50.0 ± 0.0", "75.0 ± 0.0"]
    assert shown["out of distribution %"].tolist() == ["45.0 ± 7.1", "70.0 ± 7.1"]
    assert full.accuracy_table(runs)["balanced %"].tolist() == ["50.0", "75.0"]


def test_other_seeds_draw_other_images() -> None:
    assert not np.array_equal(make_training_digits(1).pixels, make_training_digits(2).pixels)
    held_out = make_held_out_digits(0, per_group=1)
    assert len(held_out) == 72
    assert set(held_out.table["id"].str.split("-").str[0]) == {"validation"}
