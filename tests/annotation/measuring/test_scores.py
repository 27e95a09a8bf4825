import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.decomposition import PCA

from cobalance.annotation.measuring.scores import (
    auc,
    effective_dimension,
    label_scores,
    macro,
    macro_table,
    read_macro_table,
    vocabulary_recall,
)
from cobalance.base.errors import InputError

ROWS = st.lists(
    st.tuples(
        st.sampled_from([np.nan, -1e30, 0.1, 0.1000001, 0.5, 1e30]),
        st.booleans(),
        st.sampled_from([0.0, 1.0, np.nan]),
    ),
    max_size=12,
)


@given(ROWS)
def test_each_measure_equals_its_definition(rows):
    scores, labels, truth = (np.array([row[at] for row in rows]) for at in range(3))
    beside = np.zeros(len(rows))  # another concept's scores: every image was read
    (row, _) = label_scores(
        ["a", "b"],
        np.stack([scores, beside], axis=1).reshape(-1, 2),
        np.stack([labels, labels], axis=1).astype(bool).reshape(-1, 2),
        np.stack([truth, truth], axis=1).reshape(-1, 2),
    ).to_dict("records")
    seen = [row for row in rows if row[2] in (0, 1)]
    yes = [row for row in seen if row[2]]
    assert (row["images"], row["shown"]) == (len(seen), len(yes))
    assert (row["not_visible"], row["unread"]) == (len(rows) - len(seen), 0)
    lowest = [-np.inf if np.isnan(one[0]) else one[0] for one in yes]
    others = [-np.inf if np.isnan(one[0]) else one[0] for one in seen if not one[2]]
    wins = [(a > b) + (a == b) / 2 for a in lowest for b in others]
    unscored = all(np.isnan(one[0]) for one in seen)
    assert row["auc"] == pytest.approx(
        np.mean(wins) if wins and not unscored else np.nan, nan_ok=True
    )
    labelled = [one for one in seen if one[1]]
    hits = sum(1 for one in labelled if one[2])
    assert row["precision"] == (pytest.approx(hits / len(labelled)) if labelled else NAN)
    assert row["recall"] == (pytest.approx(hits / len(yes)) if yes else NAN)
    total = len(labelled) + len(yes)
    assert row["f1"] == (pytest.approx(2 * hits / total) if total else NAN)


NAN = pytest.approx(np.nan, nan_ok=True)


def test_images_that_could_not_be_read_are_left_out():
    scores = np.array([[np.nan, np.nan], [0.9, np.nan], [0.1, 0.4]])
    labels, truth = np.zeros((3, 2), bool), np.array([[1, 1], [1, 1], [0, 0]], float)
    found = label_scores(["a", "b"], scores, labels, truth)
    assert found["unread"].tolist() == [1, 1]
    assert found["images"].tolist() == [2, 2]
    assert found["auc"].tolist() == [1.0, 0.0]


def test_a_concept_without_scores_or_of_one_class_has_no_auc():
    assert np.isnan(auc(np.array([np.nan, np.nan]), np.array([True, False])))
    assert np.isnan(auc(np.array([0.1, 0.2]), np.array([True, True])))
    assert np.isnan(macro([]).value)
    assert macro([np.nan]).left_out == 1


PUBLISHED = {
    "DeepFashion": {
        "BLIP": "80 76 94 69 71 69 64 91 92 87 94 81 48 70 66 86 60 93 86 59 92 93 87 82 75 53",
        "OWLv2": "84 61 90 55 65 35 68 96 93 67 82 49 24 58 61 44 46 83 74 44 89 74 83 43 54 58",
    },
    "CelebA": {
        "BLIP": "33 61 77 34 97 90 60 43 92 96 73 83 71 60 66 99 90 94 83 25 "
        "99 56 80 42 72 58 74 47 62 68 89 96 70 91 91 97 90 81 90 88",
        "OWLv2": "87 68 42 36 96 79 61 53 69 91 62 69 70 61 80 99 97 90 75 44 "
        "97 57 92 32 95 52 58 42 67 51 83 54 45 78 91 96 92 75 94 39",
    },
}
MEANS = {("DeepFashion", "BLIP"): 0.776, ("DeepFashion", "OWLv2"): 0.646,
         ("CelebA", "BLIP"): 0.742, ("CelebA", "OWLv2"): 0.705}  # fmt: skip
TABLE_1 = {("DeepFashion", "BLIP"): 0.78, ("DeepFashion", "OWLv2"): 0.65,
           ("CelebA", "BLIP"): 0.74, ("CelebA", "OWLv2"): 0.71}  # fmt: skip


def test_means_of_the_published_aucs(tmp_path):
    frames = [
        pd.DataFrame(
            {"dataset": name}
            | {model: [int(value) / 100 for value in text.split()] for model, text in of.items()}
        )
        for name, of in PUBLISHED.items()
    ]
    path = tmp_path / "s4.csv"
    pd.concat(frames).rename_axis("attribute").reset_index().drop(columns="attribute").to_csv(
        path, index=False
    )
    found = read_macro_table(path).set_index(["dataset", "model"])
    assert set(found.index) == set(MEANS)
    for key, mean in MEANS.items():
        assert found.loc[key, "macro"] == pytest.approx(mean, abs=0.0005)
        assert found.loc[key, "macro"] == pytest.approx(TABLE_1[key], abs=0.01)
    assert found["attributes"].tolist() == [26, 26, 40, 40]


# GELDA's table S5: mean AUCs of CUB's categories, in percent, of 15 colours or fewer attributes.
CUB = {
    "BLIP": "79 74 78 71 78 77 77 65 63 77 73 58 78 79 72 76 58 59 57 60 60 58 65 68 55 60 54 55",
    "OWLv2": "71 72 76 66 69 71 70 65 67 71 66 64 68 74 64 67 56 57 58 58 55 55 68 68 55 57 55 53",
}
CUB_ATTRIBUTES = [15] * 11 + [14] + [15] * 4 + [11, 4, 4, 4, 4, 4, 14, 5, 3, 9, 5, 6]


def test_a_mean_of_several_attributes_counts_as_so_many():
    table = pd.DataFrame(
        {name: [int(value) / 100 for value in text.split()] for name, text in CUB.items()}
    ).assign(attributes=CUB_ATTRIBUTES)
    found = macro_table(table).set_index("model")
    assert found["attributes"].tolist() == [312, 312]
    assert found.loc["BLIP", "macro"] == pytest.approx(0.70, abs=0.01)
    assert found.loc["OWLv2", "macro"] == pytest.approx(0.67, abs=0.01)


def test_attributes_without_a_value_are_left_out_and_counted():
    found = macro_table(pd.DataFrame({"m": [0.5, None, 1.0]}))
    assert found.to_dict("records") == [
        {"dataset": "", "model": "m", "macro": 0.75, "attributes": 2, "left_out": 1}
    ]


@pytest.mark.parametrize("content", ["", "a,b\nx,y\n"])
def test_a_file_without_numbers_is_refused(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(InputError):
        read_macro_table(path)


def test_best_cosines_of_nine_and_seven_tenths_give_half():
    proposed = np.eye(3)[:1]
    known = np.array([[0.9, np.sqrt(1 - 0.81), 0], [0.7, 0, np.sqrt(1 - 0.49)]])
    assert vocabulary_recall(known * 3, proposed * 7) == 0.5
    assert vocabulary_recall(known, np.empty((0, 3))) == 0
    assert np.isnan(vocabulary_recall(np.empty((0, 3)), proposed))


def test_two_pairs_of_equal_vectors_have_one_dimension():
    e1, e2 = np.eye(2)
    assert effective_dimension(np.array([e1, e1, e2, e2])) == (1, 0.25)
    assert effective_dimension(np.array([e1, e1])) == (0, 0.0)
    assert effective_dimension(np.empty((0, 2)))[0] == 0


@given(arrays.arrays(np.float64, (6, 4), elements=st.integers(-5, 5).map(float)))
def test_effective_dimension_equals_scikit_learn(vectors):
    found, share = effective_dimension(vectors)
    if len(np.unique(vectors, axis=0)) == 1:
        assert found == 0
        return
    ratios = PCA().fit(vectors).explained_variance_ratio_
    assert found == next(k for k in range(1, 5) if ratios[:k].sum() >= 0.95 - 1e-9)
    assert share == found / 6
