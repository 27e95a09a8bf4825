"""The experiment's parts, with one seed: its lines, the accuracies and their summary."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.evaluation.shortcuts import shortcut_groups
from cobalance.evaluation.training.data.images import LabelledImages, joined
from cobalance.workflows.demo import experiment
from cobalance.workflows.demo.digits import (
    Digits,
    make_held_out_digits,
    make_test_digits,
    make_training_digits,
)


def labelled(digits: Digits, name: str, *, synthetic: bool = False) -> LabelledImages:
    """Digits as they are read from the graph."""
    table = digits.table
    uris = [f"{name}/{image}.png" for image in table["id"]]
    pixels = dict(zip(uris, digits.pixels, strict=True))
    frame = pd.DataFrame(
        {
            "image": [f"{name}/{image}" if synthetic else image for image in table["id"]],
            "class_name": table["class_name"],
            "concepts": table[["background", "thing"]].to_numpy().tolist(),
            "split": digits.split,
            "uri": uris,
            "synthetic": synthetic,
            "source": None,
        }
    )

    def read(uri: str, synthetic: bool) -> bytes:
        out = BytesIO()
        Image.fromarray(pixels[uri]).save(out, "PNG")
        return out.getvalue()

    return LabelledImages(name, frame, read)


@pytest.fixture(scope="module")
def runs(train: Digits) -> pd.DataFrame:
    """Of D with twice as many images of each combination as generated ones."""
    made = labelled(make_held_out_digits(9, per_group=20), "made", synthetic=True)
    rebalanced = joined(labelled(train, "digits"), made)
    test = labelled(make_test_digits(0, per_group=4), "test")
    held_out = labelled(make_held_out_digits(0), "held out")
    found = experiment.compare(rebalanced, test, held_out, 0)
    return experiment.run_table(found, 0)


def test_accuracies_are_of_the_right_images() -> None:
    test = make_test_digits(0, per_group=2)
    leans = np.where(np.isin(test.table["background"], ["brick", "gravel", "paper"]),
                     "eight", "three")  # fmt: skip
    images = labelled(test, "test").frame
    predictions = images[["image", "class_name"]].assign(predicted=leans, seed=0, method="")
    groups = shortcut_groups(images, experiment.SHORTCUTS)
    found = experiment.measure_accuracies(predictions, groups)
    assert found == {"cb": 0.5, "worst": 0.0, "ood": 0.0, "id": 1.0}
    # Right on one half of the worst group alone.
    some = (images["class_name"] == "eight") & ~test.table["thing_agrees"]
    half = predictions.assign(predicted=np.where(some, leans, images["class_name"]))
    half.loc[half.index % 2 == 0, "predicted"] = half["class_name"]
    assert experiment.measure_accuracies(half, groups) == {
        "cb": 1 - 0.5 / 8, "worst": 0.5, "ood": 0.75, "id": 1.0
    }  # fmt: skip


def test_each_line_is_of_its_training_set(runs: pd.DataFrame) -> None:
    sizes = dict(zip(runs["training"], runs["images"], strict=True))
    assert list(sizes) == [line.title for line in experiment.LINES]
    assert sizes[experiment.BASE.title] == 800
    assert sizes[experiment.GENERATED.title] == 800 + 1440
    assert sizes["the generated images alone"] == 1440


def test_baselines_and_images_of_all_groups_break_the_shortcut(runs: pd.DataFrame) -> None:
    by_line = runs.set_index("training")
    base = by_line.loc[experiment.BASE.title]
    assert base["ood"] < 0.35  # it follows the background
    for line in experiment.LINES[1:]:
        assert by_line.loc[line.title, "ood"] > base["ood"] + 0.1, line.title
    generated = by_line.loc[experiment.GENERATED.title]
    assert generated["cb"] > base["cb"] + 0.05
    assert generated["worst"] > base["worst"] + 0.3


def test_a_summary_has_a_row_for_each_line(runs: pd.DataFrame) -> None:
    twice = pd.concat([runs, runs.assign(seed=1, ood=runs["ood"] - 0.1)])
    summary = experiment.summarise(twice)
    assert summary["training"].tolist() == runs["training"].tolist()
    assert summary["ood"].to_numpy() == pytest.approx((runs["ood"].to_numpy() - 0.05) * 100)
    assert summary["ood_sd"].to_numpy() == pytest.approx(10 / np.sqrt(2))
    shown = experiment.for_people(summary)
    assert shown["balanced %"].str.match(r"^\d+\.\d ± 0\.0$").all()
    alone = experiment.for_people(experiment.summarise(runs))
    assert alone["balanced %"].str.match(r"^\d+\.\d$").all()


def test_other_seeds_draw_other_images() -> None:
    assert not np.array_equal(make_training_digits(1).pixels, make_training_digits(2).pixels)
    held_out = make_held_out_digits(0, per_group=1)
    assert len(held_out) == 72
    assert set(held_out.table["id"].str.split("-").str[0]) == {"validation"}
