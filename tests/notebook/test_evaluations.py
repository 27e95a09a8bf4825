"""Scores from Python: of tables without a store, and of evaluations in one."""

import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.evaluations.writing import NewEvaluation, create_evaluations, save_scores


def test_a_table_is_scored_without_a_store(tmp_path):
    right = [40, 90]
    table = pd.DataFrame(
        {
            "class_name": ["a", "a", "b", "b"],
            "predicted": ["a", "b", "b", "a"],
            "n": [right[0], 100 - right[0], right[1], 100 - right[1]],
        }
    )
    scores = cb.evaluate(table)
    assert scores.of("accuracy")["value"].tolist() == [sum(right) / 200]
    assert scores.of("worst_group")["value"].tolist() == [0.4]
    assert {"metric", "value"} <= set(scores.shown())
    assert "method" not in scores.shown()
    table.to_csv(tmp_path / "p.csv", index=False)
    again = cb.evaluate(tmp_path / "p.csv", metrics=["accuracy"])
    assert again.frame["value"].tolist() == [sum(right) / 200]
    with pytest.raises(cb.CobalanceError, match="magic"):
        cb.evaluate(table, metrics=["magic"])


def test_evaluations_of_a_store_are_frames(store, dataset, settings):
    records = [
        ImageRecord(f"{i}", "ab"[i % 2], (Mention("x"),), ("train", "test")[i > 5], f"{i}.png")
        for i in range(10)
    ]
    data = cb.Store(store, settings).load(
        cb.Data(Annotations.from_records(records), dataset), dataset
    )
    ordered = data.evaluate(methods=["erm"], seeds=[0, 1], shortcuts="none")
    assert len(ordered) == 2
    assert ordered.title() == "2 evaluations, 0 done"
    assert {one.test for one in ordered.records()} == {dataset}
    assert ordered.frame.empty
    with pytest.raises(cb.CobalanceError, match="has no predictions"):
        ordered.predictions()
    score = {"metric": "accuracy", "group": "", "low": 0.1, "high": 0.9, "n": 4}
    for value, one in zip((0.25, 0.75), ordered, strict=True):
        save_scores(store, one, pd.DataFrame([{**score, "value": value}]))
    assert ordered.frame["mean"].tolist() == [0.5]
    assert ordered.scores()["value"].tolist() == [0.25, 0.75]
    create_evaluations(store, [NewEvaluation("theirs")], train=None, test=dataset, extra=None)
    assert len(data.evaluations()) == 3
    ordered.delete()
    assert len(data.evaluations()) == 1
    with pytest.raises(cb.CobalanceError, match="validation images are training images, too"):
        data.evaluate(validation=dataset, shortcuts="none")
    with pytest.raises(cb.CobalanceError, match="Name one of them with test_split"):
        data.evaluate(test_split="nowhere")
