import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from cobalance.annotation.auditing.consensus import select_agreed
from cobalance.annotation.auditing.correction import corrected_counts, rates
from cobalance.annotation.auditing.imbalance import clique_verdicts, corrected_imbalances
from cobalance.annotation.auditing.sample import draw_labels

KEYS = ["concept", "class_name"]
CORRECTED = ["concept", "class_name", "labelled", "unlabelled", "corrected", "low", "high"]


def counts_of(*rows):
    return pd.DataFrame(rows, columns=CORRECTED)


def audit(shows, labelled, classes, n, rng):
    """Corrected counts of concepts (columns) in classes 0 and 1, by people who are always right."""
    drawn = draw_labels(classes, labelled, n, rng)
    audited = drawn.assign(
        class_name=classes[drawn["image"]], shows=shows[drawn["image"], drawn["concept"]]
    )
    images, concepts = labelled.shape
    said = pd.DataFrame(
        {
            "concept": np.tile(np.arange(concepts), images),
            "class_name": np.repeat(classes, concepts),
            "labelled": labelled.reshape(-1),
        }
    )
    counts = said.groupby(KEYS)["labelled"].agg(labelled="sum", n="count").reset_index()
    counts["unlabelled"] = counts["n"] - counts["labelled"]
    return corrected_counts(counts, rates(audited))


def test_an_annotator_that_errs_by_class_invents_an_imbalance_that_an_audit_takes_back():
    """Of 600 images a class 180 show it; labels find 95% of them in one, 60% in the other."""
    rng, again = np.random.default_rng(0), 200
    classes, shows = np.repeat([0, 1], 600), np.tile(np.arange(600) < 180, 2)
    chance = np.where(shows, np.where(classes == 0, 0.95, 0.6), 0.05)
    labelled = rng.random((1200, again)) < chance[:, None]
    every = np.tile(shows[:, None], again)
    rows = corrected_imbalances(audit(every, labelled, classes, 100, rng))
    assert len(rows) == again
    assert (rows["over_represented"] == 0).all()
    for name in ("gap", "rate_difference", "log_odds_ratio"):
        assert not (rows[f"{name}_low"] <= 0).any()
        covered = (rows[f"corrected_{name}_low"] <= 0) & (rows[f"corrected_{name}_high"] >= 0)
        assert covered.mean() >= 0.93
    assert (rows["verdict"] == "supported").mean() < 0.05
    assert abs(rows["corrected_gap"].mean()) < 4 * rows["corrected_gap"].std() / again**0.5


def test_a_true_imbalance_is_supported_and_a_turned_one_reversed():
    classes = np.repeat([0, 1], 600)
    rng = np.random.default_rng(3)
    shows = (rng.random(1200) < np.where(classes == 0, 0.5, 0.2))[:, None]
    (right,) = corrected_imbalances(audit(shows, shows, classes, 80, rng)).to_dict("records")
    assert (right["verdict"], right["corrected_gap"]) == ("supported", right["gap"])
    labelled = shows & (rng.random(1200) < np.where(classes == 0, 0.2, 1))[:, None]
    (turned,) = corrected_imbalances(audit(shows, labelled, classes, 300, rng)).to_dict("records")
    assert (turned["over_represented"], turned["verdict"]) == (1, "reversed")
    truth = int(shows[classes == 1].sum()) - int(shows[classes == 0].sum())
    assert turned["corrected_gap_low"] <= truth <= turned["corrected_gap_high"] < 0


PARTS = st.tuples(*[st.integers(0, 60)] * 2, *[st.integers(1, 30)] * 2, *[st.floats(0, 1)] * 2)


@settings(max_examples=40)
@given(PARTS, PARTS)
def test_limits_are_those_of_all_four_rates_added_up(first, second):
    rows, terms = [], []
    for name, (yes, no, n_yes, n_no, precision, omission) in zip(
        "ab", (first, second), strict=True
    ):
        found = {"concept": "x", "class_name": name}
        corrected, parts = 0.0, []
        for rate, share, n, images in (
            ("precision", precision, n_yes, yes),
            ("false_omission", omission, n_no, no),
        ):
            hits = round(share * n)
            low, high = proportion_confint(hits, n, method="wilson")
            low, high = max(low, 0.0), min(high, 1.0)
            found |= {rate: hits / n, f"{rate}_low": low, f"{rate}_high": high}
            corrected += images * hits / n
            parts.append((images * (hits / n - low), images * (high - hits / n)))
        terms.append((corrected, parts))
        rows.append({**found, "labelled": yes, "unlabelled": no})
    frame = pd.DataFrame(rows)
    found = corrected_imbalances(
        corrected_counts(frame[[*KEYS, "labelled", "unlabelled"]], frame)
    ).loc[0]
    a, b = terms if found["over_represented"] == "a" else terms[::-1]
    if found["over_represented"] == found["under_represented"]:
        return
    down = np.linalg.norm([part[0] for part in a[1]] + [part[1] for part in b[1]])
    up = np.linalg.norm([part[1] for part in a[1]] + [part[0] for part in b[1]])
    assert found["corrected_gap"] == pytest.approx(a[0] - b[0], abs=1e-9)
    # Limits of a class's count are cut at none and all of its images: never wider than these.
    assert found["corrected_gap_low"] >= a[0] - b[0] - down - 1e-9
    assert found["corrected_gap_high"] <= a[0] - b[0] + up + 1e-9
    if all(np.hypot(*zip(*parts, strict=True)).max() == 0 for _, parts in terms):
        assert found["corrected_gap_low"] == found["corrected_gap_high"]


def test_measures_of_labels_equal_newcombes_interval_and_the_log_odds_ratio():
    frame = counts_of(("x", "a", 56, 14, 56, 56, 56), ("x", "b", 48, 32, 48, 48, 48))
    found = corrected_imbalances(frame).loc[0]
    limits = confint_proportions_2indep(56, 70, 48, 80, method="newcomb")
    named = ("rate_difference_low", "rate_difference_high")
    assert [found[name] for name in named] == pytest.approx(limits)
    assert found["corrected_gap"] == found["corrected_gap_high"] == 8
    odds = np.log(56 / 14) - np.log(48 / 32)
    assert found[["log_odds_ratio", "corrected_log_odds_ratio_low"]].tolist() == pytest.approx(
        [odds, odds]
    )


def test_rates_and_odds_compare_the_classes_of_highest_and_lowest_rate():
    frame = counts_of(
        ("sky", "big", 50, 450, 40, 30, 50), ("sky", "mid", 45, 55, 50, 40, 60),
        ("sky", "small", 20, 20, 10, 5, 15), ("sky", "tiny", 2, 98, 3, 1, 5),
    )  # fmt: skip
    (row,) = corrected_imbalances(frame).to_dict("records")
    assert (row["over_represented"], row["under_represented"], row["gap"]) == ("big", "tiny", 48)
    assert (row["highest_rate"], row["lowest_rate"]) == ("small", "tiny")  # 50% and 2%
    for prefix, small, tiny in (("", 20 / 40, 2 / 100), ("corrected_", 10 / 40, 3 / 100)):
        odds = np.log(small / (1 - small) / (tiny / (1 - tiny)))
        found = [row[f"{prefix}{name}"] for name in ("rate_difference", "log_odds_ratio")]
        assert found == pytest.approx([small - tiny, odds])
    assert row["corrected_gap"] == 37


def test_none_all_ties_many_classes_and_what_was_not_audited():
    none = (float("nan"),) * 3
    frame = counts_of(
        ("all", "a", 10, 0, 10, 8, 10), ("all", "b", 0, 10, 0, 0, 2),
        ("half", "a", 5, 5, 5, 4, 6), ("half", "b", 2, 8, *none),
        ("tie", "a", 5, 5, 5, 4, 6), ("tie", "b", 5, 5, 5, 4, 6),
        ("three", "a", 1, 9, 1, 0, 2), ("three", "b", 9, 1, 9, 8, 10), ("three", "c", 2, 8, *none),
    )  # fmt: skip
    found = corrected_imbalances(frame).set_index("concept")
    assert found["verdict"].to_dict() == {
        "all": "supported",
        "half": "not audited",
        "tie": "supported",
        "three": "supported",
    }
    assert np.isfinite(found.loc["all", "corrected_log_odds_ratio"])
    assert tuple(found.loc["three", ["over_represented", "under_represented"]]) == ("b", "a")
    assert found["corrected_gap_high"].drop("half").le(10).all()
    empty = corrected_imbalances(frame[:0])
    assert empty.empty
    assert list(empty) == list(found.reset_index())


def test_a_clique_is_supported_where_each_concept_of_a_model_has_its_direction():
    frame = counts_of(
        ("x", "a", 9, 1, 9, 8, 10), ("x", "b", 2, 8, 2, 1, 3),
        ("y", "a", 9, 1, 5, 4, 6), ("y", "b", 2, 8, 5, 4, 6),
        ("z", "a", 9, 1, 1, 0, 2), ("z", "b", 2, 8, 9, 8, 10),
    )  # fmt: skip
    frame["concepts"] = [(name,) for name in frame.pop("concept")]
    expected = {
        ("x",): "supported",
        ("y",): "not supported",
        ("z",): "reversed",
        ("new",): "not audited",
        ("own",): None,
        ("own", "x"): "supported",
        ("x", "y"): "not supported",
        ("x", "z"): "not supported",
        ("new", "z"): "not audited",
    }
    cliques = pd.DataFrame({"concepts": list(expected)})
    cliques["over_represented"], cliques["under_represented"] = "a", "b"
    found = clique_verdicts(cliques, frame, {"x", "y", "z", "new"})
    assert found == list(expected.values())
    balanced = cliques.assign(over_represented=None, under_represented=None)
    assert clique_verdicts(balanced, frame, {"x"}) == [None] * len(expected)
    turned = cliques.assign(over_represented="b", under_represented="a")[:3]
    assert clique_verdicts(turned, frame, {"x", "y", "z"}) == [
        "reversed",
        "not supported",
        "supported",
    ]


def test_a_clique_with_an_audit_of_its_own_needs_none_of_its_concepts():
    none = (float("nan"),) * 3
    rows = [
        (("x",), "a", 9, 8, 10), (("x",), "b", 2, 1, 3),
        (("x", "y"), "a", 5, 4, 6), (("x", "y"), "b", 5, 4, 6),
        (("new", "x"), "a", 8, 7, 9), (("new", "x"), "b", 1, 0, 2),
        (("own", "x"), "a", 1, 0, 2), (("own", "x"), "b", 7, 6, 8),
        (("x", "z"), "a", 8, 7, 9), (("x", "z"), "b", *none),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["concepts", "class_name", "corrected", "low", "high"])
    expected = {
        ("y", "x"): "not supported",
        ("new", "x"): "supported",
        ("own", "x"): "reversed",
        ("x", "z"): "not audited",  # one class is not, and neither is z
        ("other", "x"): "supported",
    }
    cliques = pd.DataFrame({"concepts": list(expected)})
    cliques["over_represented"], cliques["under_represented"] = "a", "b"
    assert clique_verdicts(cliques, frame, {"x", "y", "z", "new"}) == list(expected.values())


def test_only_labels_that_people_agree_on_are_decided():
    labels = pd.DataFrame(
        {"image": ["0", "1", "2", "3"], "concept": "x", "class_name": "a", "labelled": True}
    )
    said = [
        ("0", "ann", "shows"), ("0", "bob", "shows"), ("0", "eve", "does not"),
        ("1", "ann", "shows"), ("1", "bob", "does not"),
        ("2", "ann", "unknown"), ("2", "bob", "unknown"), ("2", "eve", "does not"),
        ("9", "ann", "shows"),
    ]  # fmt: skip
    answers = pd.DataFrame(said, columns=["image", "person", "answer"]).assign(concept="x")
    found = select_agreed(labels, answers)
    assert dict(zip(found["image"], found["shows"], strict=True)) == {"0": True, "2": False}
    assert select_agreed(labels, answers[:0]).empty


CLASS_IMAGES, AUDITS = 5000, 300


@pytest.mark.parametrize(
    ("share", "found", "invented", "n", "least", "most"),
    [((0.3, 0.3), (0.95, 0.6), (0.05, 0.05), 100, 0.925, 0.985),
     ((0.5, 0.2), (0.9, 0.7), (0.1, 0.3), 60, 0.925, 0.985),
     ((0.04, 0.02), (0.8, 0.6), (0.01, 0.01), 50, 0.9, 1)],
    ids=["misses by class", "errs both ways", "rare"],
)  # fmt: skip
def test_intervals_of_95_percent_hold_the_truth_that_often(share, found, invented, n, least, most):
    """Drawn from known errors, without the sampling of the product.

    Of 300 audits 92.5% or fewer by chance once in 30, were it exactly 95%. Where 0.4 missed images
    are to be expected among 50, Wilson's own interval holds 93.6%.
    """
    rng = np.random.default_rng(20)
    rows, truth = [], []
    for name, true_share, hit, false in zip("ab", share, found, invented, strict=True):
        shown = round(CLASS_IMAGES * true_share)
        right = rng.binomial(shown, hit, AUDITS)
        wrong = rng.binomial(CLASS_IMAGES - shown, false, AUDITS)
        labelled = right + wrong
        missed = shown - right
        checked = np.minimum(n, labelled)
        good = rng.hypergeometric(right, wrong, checked)
        left = rng.hypergeometric(missed, CLASS_IMAGES - labelled - missed, n)
        truth.append(shown)
        part = {"concept": np.arange(AUDITS), "class_name": name, "labelled": labelled}
        part["unlabelled"] = CLASS_IMAGES - labelled
        for rate, hits, of in (("precision", good, checked), ("false_omission", left, n)):
            low, high = proportion_confint(hits, of, method="wilson")
            part |= {rate: hits / of, f"{rate}_low": low, f"{rate}_high": high}
        rows.append(pd.DataFrame(part))
    frame = pd.concat(rows, ignore_index=True)
    corrected = corrected_counts(frame[[*KEYS, "labelled", "unlabelled"]], frame)
    for name, shown in zip("ab", truth, strict=True):
        of = corrected[corrected["class_name"] == name]
        assert abs(of["corrected"].mean() - shown) < 4 * of["corrected"].std() / AUDITS**0.5
        assert least <= ((of["low"] <= shown) & (shown <= of["high"])).mean() <= most
    gaps = corrected_imbalances(corrected)
    true = np.where(gaps["over_represented"] == "a", 1, -1) * (truth[0] - truth[1])
    held = (gaps["corrected_gap_low"] <= true) & (true <= gaps["corrected_gap_high"])
    assert 0.925 <= held.mean() <= most


def test_an_interval_is_as_wide_as_a_bootstrap_of_the_audit_says():
    audited = pd.DataFrame({"concept": "x", "class_name": "a", "labelled": [True, False]})
    audited = audited.loc[np.repeat([0, 1], [200, 300])]
    audited["shows"] = np.r_[np.arange(200) < 160, np.arange(300) < 30]
    counts = pd.DataFrame(
        {"concept": ["x"], "class_name": ["a"], "labelled": [4000], "unlabelled": [9000]}
    )
    (row,) = corrected_counts(counts, rates(audited)).to_dict("records")
    rng = np.random.default_rng(0)
    drawn = (
        4000 * rng.binomial(200, 0.8, 20_000) / 200 + 9000 * rng.binomial(300, 0.1, 20_000) / 300
    )
    assert row["corrected"] == pytest.approx(4100)
    limits = np.quantile(drawn, [0.025, 0.975])
    assert [row["low"], row["high"]] == pytest.approx(limits, rel=0.01)
    assert row["high"] - row["low"] == pytest.approx(limits[1] - limits[0], rel=0.03)
