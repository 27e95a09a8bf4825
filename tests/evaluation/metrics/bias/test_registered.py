"""Registered metrics of bias: from tables, predictions and captions to scores by run."""

import math
import sys

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import CobalanceError, InputError, MissingExtraError, UnknownNameError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.bias.amplification import mals_amplification
from cobalance.evaluation.metrics.bias.directional import directional_amplification
from cobalance.evaluation.metrics.bias.leakage import leakage
from cobalance.evaluation.metrics.bias.multi_attribute import multi_attribute_amplification
from cobalance.evaluation.metrics.bias.rankings import ndkl
from cobalance.evaluation.metrics.metric import COLUMNS, Inputs, score_metrics
from cobalance.evaluation.predictions import check_predictions
from tests.evaluation.metrics.bias.scored import value
from tests.evaluation.tables import frame_f

LONG = pd.DataFrame(
    {
        "object": ["pan", "pan", "ball", "ball"],
        "group": ["woman", "man"] * 2,
        "before": [30, 10, 5, 15],
        "after": [36, 8, 4, 16],
    }
)
WIDE = pd.DataFrame(
    {
        "object": ["pan", "ball"],
        "before_woman": [30, 5],
        "before_man": [10, 15],
        "after_man": [8, 16],
        "after_woman": [36, 4],
    }
)
SHARES = pd.DataFrame({"object": ["pan", "ball"], "before": [0.75, 0.25], "after": [9 / 11, 0.2]})
MALS = ((36 / 44 - 0.75) + (0.8 - 0.75)) / 2


def score(name: str, options: dict[str, object] | None = None, **tables: object) -> pd.DataFrame:
    scores = METRICS.open(name, options)(Inputs(**tables))  # type: ignore[arg-type]
    assert tuple(scores) == COLUMNS
    return scores


@pytest.mark.parametrize("table", [LONG, WIDE, SHARES], ids=["long", "wide", "shares"])
def test_a_published_table_before_and_after(table: pd.DataFrame) -> None:
    scores = score("mals_amplification", table=table)
    assert value(scores, "mals_amplification") == pytest.approx(MALS)
    assert value(scores, "mals_amplification", "pan") == pytest.approx(36 / 44 - 0.75)
    strict = score("mals_amplification", {"margin": 0.06}, table=table)
    assert value(strict, "mals_violations") == 1
    as_read = score("mals_amplification", table=table.astype("str"))  # CSV's cells are text
    pd.testing.assert_frame_equal(as_read, scores)


@pytest.mark.parametrize("groups", [["woman", "woman"], ["woman", "man"]])
def test_published_shares_of_one_group_of_each_object(groups: list[str]) -> None:
    """As tables give those of the group that an object leans to."""
    leaning = pd.DataFrame({"object": ["cooking", "driving"], "group": groups})
    scores = score(
        "mals_amplification", table=leaning.assign(before=[0.66, 0.6], after=[0.84, 0.5])
    )
    assert value(scores, "mals_amplification", "cooking") == pytest.approx(0.18)
    assert value(scores, "mals_amplification", "driving") == pytest.approx(-0.1)
    with pytest.raises(InputError, match=r"one group of each object, such as 'cooking'"):
        score("mals_amplification", table=leaning.assign(before=[66, 60], after=[84, 50]))


def test_a_share_without_a_row_is_the_rest() -> None:
    rows = [("a", "x", 0.5, 0.6), ("a", "y", 0.3, 0.2), ("b", "x", 0.2, 0.4), ("b", "z", 0.5, 0.4)]
    table = pd.DataFrame(rows, columns=["object", "group", "before", "after"])
    scores = score("mals_amplification", table=table)
    assert value(scores, "mals_amplification", "a") == pytest.approx(0.1)
    assert value(scores, "mals_amplification", "b") == pytest.approx(-0.1)
    with pytest.raises(InputError, match="'b' that add up to less than 1"):
        score("mals_amplification", table=table.drop(index=2))
    counts = table.assign(before=[5, 3, 0, 4], after=[6, 2, 0, 4])  # no row, no images
    scores = score("mals_amplification", table=counts)
    assert value(scores, "mals_absolute") == pytest.approx(0.25 / 6)


@pytest.mark.parametrize("cell", ["", "many", "-3"])
@pytest.mark.parametrize("table", [LONG, WIDE, SHARES], ids=["long", "wide", "shares"])
def test_a_cell_of_a_table_that_is_no_number_is_named(table: pd.DataFrame, cell: str) -> None:
    broken = table.astype("str")
    broken.iloc[1, -1] = cell
    with pytest.raises(InputError, match=f"row 2.*{table.columns[-1]} is '{cell}'"):
        score("mals_amplification", table=broken)
    with pytest.raises(InputError, match=r"row 3.*there twice"):
        score("mals_amplification", table=pd.concat([table[:2], table[:1]]))


def test_cells_of_attackers_and_seeds_that_are_no_numbers_are_named() -> None:
    right = pd.DataFrame({"group": ["a", "b"], "p_a": ["0.9", "0.2"], "p_b": ["0.1", "0.8"]})
    assert value(score("leakage", table=right), "leakage_model") == pytest.approx(0.85)
    for column, cell in (("p_b", "x"), ("n", ""), ("seed", "first"), ("seed", "0.5")):
        with pytest.raises(InputError, match=f"row 1.*{column} is '{cell}'"):
            score("leakage", table=right.assign(**{column: [cell, "1"]}))


def test_methods_of_a_table_are_scored_one_by_one() -> None:
    table = pd.concat([LONG.assign(method="erm"), LONG.assign(method="ours", after=LONG["before"])])
    scores = score("mals_amplification", table=table.assign(seed=3))
    of_ours = scores[scores["method"] == "ours"]
    assert value(of_ours, "mals_amplification") == 0
    assert set(scores["seed"]) == {3}


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        ("mals_amplification", LONG.drop(columns="after"), "before_<group>"),
        (
            "mals_amplification",
            pd.concat([LONG, LONG.head(1)]),
            "'pan' and 'woman' are there twice",
        ),
        ("mals_amplification", LONG.head(0), "has no rows"),
        ("mals_amplification", LONG.assign(after=[1, 2, math.nan, 4]), "is nan"),
        ("leakage", pd.DataFrame({"p_a": [1.0], "p_b": [0.0]}), "no column group"),
        (
            "leakage",
            pd.DataFrame({"p_a": [1.0], "p_b": [0.0], "group": ["a"], "attacker": ["x"]}),
            "attacker is x",
        ),
        (
            "leakage",
            pd.DataFrame({"model leakage": [73.2]}),
            "no column group; its columns: model leakage.*leakage_model and leakage_data",
        ),
        ("leakage", pd.DataFrame({"group": ["a"]}), "no probabilities p_<group>; its columns: gro"),
        ("max_skew", pd.DataFrame({"group": ["a"]}), "no column score"),
        (
            "ndkl",
            pd.DataFrame({"group": ["a"], "score": ["high"]}),
            "'high', which is not a number",
        ),
        ("person_preference", pd.DataFrame({"person": [0.1]}), "no column group"),
    ],
    ids=[
        *("column", "twice", "empty", "nan", "group", "side", "headings", "no scores"),
        *("score", "word", "groups"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(name: str, table: pd.DataFrame, message: str) -> None:
    with pytest.raises(CobalanceError, match=message):
        score(name, table=table)


def test_published_scores_of_attackers_are_subtracted() -> None:
    table = pd.DataFrame(
        {
            "method": ["plain", "blind"],
            "group": ["objects", "objects"],
            "leakage_model": ["73.20", "67.10"],
            "leakage_data": ["67.72", "67.72"],
        }
    )
    scores = METRICS.open("leakage", {})(Inputs(table=table))
    found = scores[scores["metric"] == "leakage"].set_index("method")["value"]
    assert found.to_dict() == {"plain": pytest.approx(5.48), "blind": pytest.approx(-0.62)}
    with pytest.raises(InputError, match="no column leakage_data"):
        METRICS.open("leakage", {})(Inputs(table=table.drop(columns="leakage_data")))


def test_a_group_that_no_image_has_is_no_bias() -> None:
    table = pd.DataFrame({"score": [0.9, 0.8], "group": ["man", "woman"]})
    pair = {"first": "man", "second": "Woman"}
    with pytest.raises(UnknownNameError, match="unknown group 'Woman'"):
        score("bias_at_k", pair, table=table)
    assert score("bias_at_k", pair, table=table[:1])["value"].item() == 1


def test_published_scores_of_captions_are_subtracted() -> None:
    table = pd.DataFrame({"method": ["a", "b"], "lic_model": [46.3, "40"], "lic_data": [39.5, 42]})
    scores = score("lic", table=table)
    assert scores[scores["metric"] == "lic"]["value"].tolist() == [pytest.approx(6.8), -2]
    with pytest.raises(InputError, match="no column lic_data; its columns: method, lic_model"):
        score("lic", table=table.drop(columns="lic_data"))


def test_attackers_probabilities_before_and_after() -> None:
    model = pd.DataFrame(
        {"group": ["m", "m", "w", "w"], "p_m": [0.9, 0.6, 0.2, 0.7], "p_w": [0.1, 0.4, 0.8, 0.3]}
    )
    data = model.assign(p_m=[0.6, 0.4, 0.4, 0.6], p_w=[0.4, 0.6, 0.6, 0.4])
    both = pd.concat([model.assign(attacker="model"), data.assign(attacker="data")])
    scores = score("leakage", table=both.sample(frac=1, random_state=0))
    assert value(scores, "leakage_model") == pytest.approx(0.575)
    assert value(scores, "leakage") == pytest.approx(0.575 - 0.3)
    alone = score("leakage", table=model)
    assert value(alone, "leakage_model") == pytest.approx(0.575)


def objects(n: int = 240) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Predictions of two methods for three objects, the images' groups, and a training set."""
    rng = np.random.default_rng(0)
    names = ["pan", "ball", "dog"]
    groups = rng.choice(["man", "woman"], n)
    truth = rng.random((n, 3)) < np.where(
        groups[:, None] == "man", [0.3, 0.7, 0.5], [0.7, 0.3, 0.5]
    )
    images = [f"{i}.jpg" for i in range(n)]
    frames = []
    for method, copied in (("fair", 0.0), ("biased", 0.5)):
        follows = rng.random((n, 3)) < copied
        found = np.where(follows, np.where(groups[:, None] == "man", [0, 1, 0], [1, 0, 0]), truth)
        frame = pd.DataFrame({"image": images, "method": method, "seed": 1})
        for column, name in enumerate(names):
            frame[f"y_{name}"] = truth[:, column].astype(int)
            frame[f"p_{name}"] = 0.2 + 0.6 * found[:, column]
        guessed = np.where(rng.random(n) < 0.9, groups, "woman")
        frames.append(frame.assign(predicted_gender=guessed))
    shown = groups.astype(object)
    shown[:7] = None  # images without people
    of_images = pd.DataFrame({"image": images, "gender": shown}).sample(frac=1, random_state=2)
    training = pd.DataFrame(truth[::2].astype(int), columns=[f"y_{name}" for name in names])
    training["image"], training["gender"] = images[::2], groups[::2]
    return check_predictions(pd.concat(frames)), of_images, training


def test_predictions_give_what_the_functions_give() -> None:
    predictions, groups, training = objects()
    names = ["pan", "ball", "dog"]
    run = predictions[predictions["method"] == "biased"].merge(groups, on="image")
    run = run[run["gender"].notna()]
    truth = run[[f"y_{name}" for name in names]].to_numpy()
    found = (run[[f"p_{name}" for name in names]] >= 0.5).to_numpy().astype(int)
    known = {
        "training_labels": training[[f"y_{name}" for name in names]].to_numpy(),
        "training_groups": training["gender"],
    }
    inputs = {"predictions": predictions, "groups": groups, "training": training}
    multi = multi_attribute_amplification(
        truth,
        run["gender"],
        predicted_labels=found,
        predicted_groups=run["predicted_gender"],
        **known,
    )
    directed = directional_amplification(
        truth,
        run["gender"],
        predicted_labels=found,
        predicted_attributes=run["predicted_gender"],
        training_labels=known["training_labels"],
        training_attributes=known["training_groups"],
    )
    for name, expected in (
        ("multi_attribute_amplification", multi),
        ("directional_amplification", directed),
    ):
        scores = score(name, **inputs)
        assert set(scores["method"]) == {"fair", "biased"}
        of_biased = scores[scores["method"] == "biased"]
        assert of_biased["value"].tolist() == pytest.approx(expected["value"].tolist())
        assert of_biased["group"].str.startswith("gender").all()

    before, after = (
        [
            [int((rows[:, column] * (of == one)).sum()) for one in ("man", "woman")]
            for column in range(3)
        ]
        for rows, of in (
            (known["training_labels"], training["gender"]),
            (found, run["predicted_gender"]),
        )
    )
    mals = score("mals_amplification", **inputs)
    mals = mals[mals["method"] == "biased"]
    expected = mals_amplification(before, after)
    assert value(mals, "mals_amplification", "gender") == pytest.approx(
        value(expected, "mals_amplification")
    )

    fair, biased = (
        value(scores, "leakage", "gender")
        for _, scores in score("leakage", {"repeats": 2}, **inputs).groupby("method", sort=False)
    )
    assert fair == pytest.approx(0)
    assert biased > 0.05


def test_one_class_an_image_with_counts_in_place_of_images() -> None:
    table = pd.DataFrame(
        {
            "class_name": ["nurse", "nurse", "doctor", "doctor"] * 2,
            "predicted": ["nurse", "doctor"] * 4,
            "gender": ["woman"] * 4 + ["man"] * 4,
            "n": [9, 1, 3, 7, 6, 4, 1, 9],
        }
    )
    scores = score("directional_amplification", predictions=check_predictions(table))
    # women: 10 nurses and 10 doctors become 12 and 8; men 10 and 10 become 7 and 13
    assert value(scores, "attribute_to_task_absolute", "gender") == pytest.approx((0.1 + 0.15) / 2)
    half = check_predictions(table.assign(n=table["n"] / 2))
    with pytest.raises(CobalanceError, match="no number of images"):
        score("directional_amplification", predictions=half)


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "as CSV has them"])
def test_rows_of_training_stand_for_several_images(text: bool) -> None:
    predictions = check_predictions(
        pd.DataFrame({"class_name": "pan", "predicted": "pan", "sex": ["f", "m"], "n": [36, 8]})
    )
    training = pd.DataFrame({"class_name": "pan", "sex": ["f", "m"], "n": [30, 10]})
    training = training.astype("str") if text else training
    scores = score("mals_amplification", predictions=predictions, training=training)
    assert value(scores, "mals_amplification", "sex") == pytest.approx(36 / 44 - 30 / 40)
    several = check_predictions(
        pd.DataFrame({"y_pan": ["True", "True"], "p_pan": [1, 1], "sex": ["f", "m"], "n": [36, 8]})
    )
    labels = training.rename(columns={"class_name": "y_pan"}).assign(y_pan="1" if text else 1)
    scores = score("mals_amplification", predictions=several, training=labels)
    assert value(scores, "mals_amplification", "sex") == pytest.approx(36 / 44 - 30 / 40)
    with pytest.raises(InputError, match=r"training, row 1: n is .?0\.5"):
        score("mals_amplification", predictions=several, training=labels.assign(n=["0.5", "1"]))


def test_what_predictions_lack_is_said() -> None:
    predictions, groups, _ = objects()
    with pytest.raises(CobalanceError, match="missing from groups"):
        score("leakage", predictions=predictions, groups=groups.head(5))
    with pytest.raises(CobalanceError, match="unknown attribute 'age'"):
        score("leakage", {"attribute": "age"}, predictions=predictions, groups=groups)
    with pytest.raises(CobalanceError, match="no p_dog"):
        score("leakage", predictions=predictions.drop(columns="p_dog"), groups=groups)
    with pytest.raises(CobalanceError, match="no column of an attribute"):
        score("mals_amplification", predictions=predictions.drop(columns="predicted_gender"))


def test_states_of_shortcuts_are_attributes_only_by_name() -> None:
    with pytest.raises(CobalanceError, match="only states of shortcuts"):
        score("directional_amplification", predictions=frame_f())
    named = score("directional_amplification", {"attribute": "object"}, predictions=frame_f())
    assert value(named, "attribute_to_task", "object", "n") == 4


def test_a_table_is_scored_by_the_metrics_that_it_is_for() -> None:
    scored = score_metrics(Inputs(table=LONG))
    assert {*scored.frame["metric"]} == {"mals_amplification", "mals_absolute", "mals_violations"}
    assert "leakage" in scored.left_out


def test_rankings_of_a_table() -> None:
    table = pd.DataFrame(
        {
            "query": ["a", "b", "a", "b", "a", "b"],
            "score": [0.1, 3, 0.3, 2, 0.2, 1],
            "group": ["m", "m", "w", "", "m", "w"],
        }
    )
    expected = ndkl([["w", "m", "m"], ["m", None, "w"]], 25)
    assert score("ndkl", table=table)["value"].item() == pytest.approx(expected["value"].item())
    bias = score("bias_at_k", {"k": 1, "first": "m", "second": "w"}, table=table)
    assert bias["value"].item() == 0
    with pytest.raises(CobalanceError, match="Name two groups"):
        score("bias_at_k", table=table)
    skew = score("max_skew", {"k": 1}, table=table)
    assert skew["value"].item() == pytest.approx((math.log(3) + math.log(2)) / 2)


@pytest.mark.parametrize("name", ["max_skew", "ndkl", "bias_at_k"])
def test_texts_rank_images(name: str) -> None:
    rng = np.random.default_rng(0)
    texts, images = rng.normal(size=(300, 4)), rng.normal(size=(30, 4))
    people = rng.choice(["m", "w", "none"], 30)
    cosines = texts @ (images / np.linalg.norm(images, axis=1, keepdims=True)).T
    rows = [(q, cosines[q, i], people[i]) for q in range(300) for i in range(30)]
    table = pd.DataFrame(rows, columns=["query", "score", "group"])
    ids = [f"{i}.jpg" for i in range(30)]
    tables = {
        "texts": pd.DataFrame(texts).assign(image="0.jpg"),
        "embeddings": pd.DataFrame(images).assign(image=ids),
        "groups": pd.DataFrame({"image": ids[::-1], "gender": people[::-1]}),
    }
    options = {"k": 5} if name != "bias_at_k" else {"k": 5, "first": "m", "second": "w"}
    found, expected = score(name, options, **tables), score(name, options, table=table)
    assert found["value"].item() == pytest.approx(expected["value"].item())
    assert found["n"].item() == 300
    assert found["group"].item().startswith("gender")
    with pytest.raises(CobalanceError, match="needs"):
        score(name, options, texts=tables["texts"])
    if name == "bias_at_k":
        with pytest.raises(UnknownNameError, match="'women'"):
            score(name, options | {"second": "women"}, **tables)


def test_markedness_of_embeddings_and_cosines() -> None:
    embeddings = pd.DataFrame({"image": ["a", "b", "c"], "x": [1.0, 0, 1], "y": [0.0, 1, 0]})
    assert score("self_similarity", embeddings=embeddings)["value"].item() == pytest.approx(1 / 3)
    groups = pd.DataFrame({"image": ["c", "b", "a"], "age": ["young", "old", "young"]})
    by_age = score("self_similarity", embeddings=embeddings, groups=groups)
    assert value(by_age, "self_similarity", "age: young") == pytest.approx(1)
    assert math.isnan(value(by_age, "self_similarity", "age: old"))
    nameless = embeddings.drop(columns="image")
    assert score("self_similarity", embeddings=nameless)["value"].item() == pytest.approx(1 / 3)
    for name in ("self_similarity", "clip_score", "retrieval_recall", "max_skew"):
        with pytest.raises(InputError, match="embeddings: has no column image; its columns: x, y"):
            score(name, embeddings=nameless, groups=groups, texts=embeddings)
    table = pd.DataFrame(
        {"group": ["m", "w"], "person": [0.3, 0.3], "m": [0.2, 0.4], "w": [0.1, 0.5]}
    )
    preferred = score("person_preference", table=table)
    assert preferred["value"].tolist() == [1, 0]


def test_lic_with_a_built_in_list_of_words() -> None:
    rng = np.random.default_rng(0)
    groups = pd.DataFrame({"image": [f"{i}" for i in range(60)]})
    groups["gender"] = rng.choice(["man", "woman"], 60)
    sport = groups["gender"].map({"man": "surfing", "woman": "dancing"})
    told = groups[["image"]].assign(caption="A " + groups["gender"] + " who is " + sport)
    people = groups[["image"]].assign(caption="A " + groups["gender"] + " who is surfing")
    tables = {"captions": told, "references": people, "groups": groups}
    scores = score("lic", {"repeats": 2}, **tables)
    assert value(scores, "attacker_accuracy_model", "gender") == 1
    assert value(scores, "attacker_accuracy_data", "gender") == 0.5
    again = score("lic", {"repeats": 2}, **tables)
    pd.testing.assert_frame_equal(scores, again)
    two = groups.assign(age="old")
    with pytest.raises(CobalanceError, match="Name one with attribute"):
        score("lic", captions=told, references=people, groups=two)


@pytest.mark.parametrize("name", ["leakage", "lic"])
def test_without_scikit_learn_the_extra_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sklearn", "sklearn.model_selection", "sklearn.feature_extraction.text"):
        monkeypatch.setitem(sys.modules, module, None)
    predictions, groups, _ = objects(60)
    texts = groups[["image"]].assign(caption="A dog")
    tables = {"predictions": predictions, "groups": groups, "captions": texts}
    with pytest.raises(MissingExtraError, match=r"pip install .*\[evaluate\]'"):
        score(name, references=texts, **tables)


def test_every_function_is_registered_by_its_name() -> None:
    assert leakage.__name__ in METRICS
    assert METRICS["leakage"].extra == "evaluate"


def test_counts_that_no_memory_holds_are_refused() -> None:
    counts = {"class_name": ["a", "b"], "predicted": "a", "gender": ["m", "w"], "n": [1e15, 5]}
    predictions = check_predictions(pd.DataFrame(counts))
    with pytest.raises(InputError, match="1,000,000,000,000,005 images, more than"):
        score("mals_amplification", predictions=predictions)
