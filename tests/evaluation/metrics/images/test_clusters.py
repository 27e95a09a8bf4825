"""Clusters of captions."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from cobalance.base.errors import DataError, OptionError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.images.clusters import (
    caption_clusters,
    cluster_captions,
    cluster_names,
    salient_words,
)
from cobalance.evaluation.metrics.metric import Inputs

TOPICS = ("pizza on a table", "a wave at the beach", "a laptop on a desk")


def planted(images=60, captions=2, seed=0):
    """Captions of three topics, with embeddings near one centre for each; images in turn."""
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(images) % 3, captions)
    frame = pd.DataFrame(
        {
            "image": np.repeat([f"i{number}" for number in range(images)], captions),
            "caption": [f"A man with {TOPICS[one]}" for one in topic],
        }
    )
    return frame, np.eye(3)[topic] * 5 + rng.normal(size=(len(frame), 3)), topic[::captions]


def test_planted_clusters_are_found():
    captions, points, topic = planted(images=57)
    found = cluster_captions(captions, points, np.random.default_rng(1), k=3)
    assert found["image"].tolist() == captions["image"].drop_duplicates().tolist()
    table = pd.crosstab(found["cluster"], topic).to_numpy()
    assert sorted(table.max(axis=1)) == [19, 19, 19]
    words = salient_words(captions, found, leave_out={"man"})
    said = {frozenset(of_cluster) for of_cluster in words.values()}
    assert said == {
        frozenset(("pizza", "table")),
        frozenset(("wave", "beach")),
        frozenset(("laptop", "desk")),
    }


def test_the_same_seed_gives_the_same_clusters():
    captions, points, _ = planted()

    def run():
        return cluster_captions(captions, points, np.random.default_rng(4), k=5)

    pd.testing.assert_frame_equal(run(), run())
    assert run()["cluster"].value_counts().sort_index().is_monotonic_decreasing


def test_shift_and_interval():
    clusters = pd.DataFrame({"image": range(100), "cluster": [0] * 40 + [1] * 60})
    men = {*range(30), *range(40, 60)}  # 30 of 40, and 20 of 60: half of all
    groups = {str(image): "man" if image in men else "woman" for image in range(100)}
    scores = caption_clusters(clusters, groups).set_index("group")
    assert scores.loc["0: man", "value"] == pytest.approx(25.0)
    assert scores.loc["0: woman", "value"] == pytest.approx(-25.0)
    low, high = confint_proportions_2indep(30, 40, 20, 60, method="newcomb")
    assert scores.loc["0: man", "low"] == pytest.approx(60 * low)
    assert scores.loc["0: man", "high"] == pytest.approx(60 * high)
    assert scores.loc["0: man", "n"] == 40


def test_clusters_without_groups_stay_and_images_without_groups_do_not_count():
    clusters = pd.DataFrame({"image": range(6), "cluster": [0, 0, 0, 1, 1, 2]})
    groups = {"0": "a", "1": "b", "2": None, "3": "a", "4": "a", "5": np.nan}
    scores = caption_clusters(clusters, groups).set_index("group")
    assert scores.loc["0: a", "value"] == pytest.approx(100 * (1 / 2 - 3 / 4))
    assert np.isnan(scores.loc["2: a", "value"])
    assert scores.loc["2: a", "n"] == 0


def test_one_cluster_of_all_has_no_shift():
    clusters = pd.DataFrame({"image": range(4), "cluster": 0})
    scores = caption_clusters(clusters, {"0": "a", "1": "a", "2": "b", "3": "b"})
    assert scores["value"].tolist() == [0, 0]


def test_the_metric_reads_tables_of_captions_embeddings_and_groups():
    captions, points, topic = planted(images=30)
    texts = pd.DataFrame(points).assign(image=captions["image"])
    images = captions["image"].drop_duplicates()
    groups = pd.DataFrame({"image": images, "gender": np.where(topic == 0, "man", "woman")})
    inputs = Inputs(references=captions, texts=texts, groups=groups)
    scores = METRICS.open("caption_clusters", {"k": 3})(inputs)
    of_pizza = scores[scores["group"].str.contains("pizza")].set_index("group")["value"]
    assert sorted(of_pizza.round(4)) == [-66.6667, 66.6667]
    assert not scores["group"].str.contains("man,|, man").any()
    with pytest.raises(OptionError, match="no column 'age'"):
        METRICS.open("caption_clusters", {"column": "age"})(inputs)


def test_images_of_unknown_gender_are_no_group_of_a_cluster():
    captions, points, topic = planted(images=30)
    texts = pd.DataFrame(points).assign(image=captions["image"])
    gender = np.where(topic == 0, "man", "woman").astype(object)
    gender[:4] = ["none", "", None, np.nan]
    groups = pd.DataFrame({"image": captions["image"].drop_duplicates(), "gender": gender})
    inputs = Inputs(references=captions, texts=texts, groups=groups)
    scores = METRICS.open("caption_clusters", {"k": 3})(inputs)
    shifts = scores[scores["metric"] == "cluster_shift"]
    assert {name.rsplit(": ")[-1] for name in shifts["group"]} == {"man", "woman"}
    left_out = scores[scores["metric"] == "images_without_attribute"]
    assert left_out[["group", "value"]].to_numpy().tolist() == [["gender", 4]]


def test_embeddings_that_do_not_fit_are_refused():
    captions, points, _ = planted(images=6, captions=1)
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="6 captions have embeddings of the shape \\(5, 3\\)"):
        cluster_captions(captions, points[:5], rng, k=2)
    points[3, 0] = np.nan
    with pytest.raises(DataError, match="caption 3 is not finite"):
        cluster_captions(captions, points, rng, k=2)
    with pytest.raises(OptionError, match="6 images cannot be in 20 clusters"):
        cluster_captions(captions, np.ones((6, 3)), rng)


def test_names_of_clusters_are_distinct_and_safe_whatever_captions_say():
    said = [
        "<b>'; DROP\x1b[31m \u202e$x$ :red[ski]",
        "x" * 300 + " cafe\u0301 cafe\u0301",
        "ski b red drop",
    ]
    captions = pd.DataFrame({"image": list("abc"), "caption": said})
    words = salient_words(captions, pd.DataFrame({"image": list("abc"), "cluster": [0, 1, 2]}))
    taken = ["31m, drop, red", "31m, drop, red (cluster 0)"]
    names = cluster_names(words, taken)
    assert names == {
        0: "31m, drop, red (cluster 0) (cluster 0)",
        1: f"café, {'x' * 40}",
        2: "drop, red, ski",
    }
