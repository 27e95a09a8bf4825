"""Human study: sentences with gaps, blind samples, shares, agreement and Krippendorff's alpha."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import OptionError
from cobalance.evaluation.study.agreement import (
    ALPHA,
    ASKED,
    BOTH,
    COLUMNS,
    OWN,
    SHARE,
    agreement,
    alphas,
    study_results,
)
from cobalance.evaluation.study.questions import GAP, QUESTIONS, SENTENCE, gap_sentence
from cobalance.evaluation.study.sample import draw_pairs
from cobalance.ingest.captions.caption_editor import CaptionEditor
from cobalance.ingest.concepts.word_lists import load_group_words
from tests.conftest import HOSTILE

GROUPS = ("man", "woman")


def answered(*rows):
    return pd.DataFrame(rows, columns=["pair", "person", "question", "answer"]).astype("str")


def pairs_of(*rows):
    return pd.DataFrame(rows, columns=["pair", "asked", "own"]).astype("str")


@pytest.mark.parametrize("words", ["coco-gb", "gensynth", "pinpoint"])
@pytest.mark.parametrize(
    ("caption", "sentence"),
    [
        ("A man with a dog.", f"A {GAP} with a dog."),
        ("Woman and her child", f"{GAP} and their child"),
        ("He rides beside a lady", f"They rides beside a {GAP}"),
        ("A dog on a sofa", SENTENCE),
        ("", SENTENCE),
    ],
)
def test_the_gap_is_where_the_caption_names_the_group(words, caption, sentence):
    found = load_group_words(words)
    assert gap_sentence(caption, found) == sentence
    assert CaptionEditor(found).is_neutral(sentence)


def test_the_gap_of_an_attribute_is_before_the_person():
    tones = load_group_words("skin-tone")
    assert gap_sentence("A lighter-skinned man", tones) == f"A {GAP} man"
    both = load_group_words("coco-gb").times("age", {"elderly": "elderly"})
    assert gap_sentence("An elderly woman sits", both) == f"A {GAP} sits"


def candidates(n, edits=2):
    rows = [(f"c{i}/{e}", f"i{i}", GROUPS[e % 2]) for i, e in product(range(n), range(edits))]
    return pd.DataFrame(rows, columns=["pair", "original", "asked"])


def test_no_original_is_drawn_twice_and_the_order_of_rows_does_not_matter():
    table = candidates(30)
    drawn = draw_pairs(table, 20, np.random.default_rng(3))
    again = draw_pairs(table.sample(frac=1, random_state=1), 20, np.random.default_rng(3))
    pd.testing.assert_frame_equal(drawn, again)
    assert drawn["original"].nunique() == len(drawn) == 20
    assert set(drawn["asked"]) == set(GROUPS)
    other = draw_pairs(table, 20, np.random.default_rng(4))
    assert other["pair"].tolist() != drawn["pair"].tolist()
    with pytest.raises(OptionError, match="31 pairs cannot be drawn, as 30 images"):
        draw_pairs(table, 31, np.random.default_rng(0))
    with pytest.raises(OptionError):
        draw_pairs(table.head(0), 1, np.random.default_rng(0))


def test_shares_agreements_and_intervals_by_hand():
    n = 100
    pairs = pairs_of(*[(f"{i}", "woman" if i < 60 else "man", "man") for i in range(n)])
    rows = []
    for i in range(n):
        asked = pairs["asked"][i]
        rows.append((f"{i}", "ann", "objects", "same" if i < 40 else "different"))
        # One of the hundred is seen as the other group: GenSynth's 99%.
        rows.append((f"{i}", "ann", "group_edited", asked if i else "man"))
        rows.append((f"{i}", "ann", "group_original", "man" if i >= 5 else "cannot tell"))
    found = study_results(answered(*rows), pairs, GROUPS, ["ann", "bob"])
    assert tuple(found.columns) == COLUMNS

    def row(measure, person="", question=None, group="", answer=""):
        keep = (found["measure"] == measure) & (found["person"] == person)
        keep &= (found["group"] == group) & (found["answer"] == answer)
        if question is not None:
            keep &= found["question"] == question
        (one,) = found[keep].to_dict("records")
        return one

    same = row(SHARE, question="objects", answer="same")
    assert [round(same[name], 4) for name in ("value", "low", "high")] == [0.4, 0.3094, 0.4980]
    assert row(SHARE, question="objects", group="woman", answer="same")["value"] == 40 / 60
    assert row(SHARE, question="objects", group="man", answer="same")["value"] == 0
    assert row(SHARE, question="group_original", answer="cannot tell")["value"] == 0.05
    assert row(ASKED, "ann")["value"] == row(ASKED)["value"] == 0.99
    assert row(OWN, "ann")["value"] == 0.95
    # Of 95 pairs that were told in both, the 40 men stay men; the first is in neither count.
    assert row(BOTH, "ann")["n"] == 95
    assert row(BOTH, "ann")["value"] == 40 / 95
    for measure in (ASKED, OWN, BOTH):
        nobody = row(measure, "bob")
        assert nobody["n"] == 0
        assert all(math.isnan(nobody[name]) for name in ("value", "low", "high"))
    unanswered = row(SHARE, question="colours", answer="same")
    assert unanswered["n"] == 0
    assert math.isnan(unanswered["value"])
    assert all(math.isnan(row(ALPHA, question=one.key)["value"]) for one in QUESTIONS)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_study_that_nobody_has_answered_has_all_rows(name):
    pairs = pairs_of(("1", "man", ""), ("2", name, "man"))
    found = study_results(answered(), pairs, ("man", name), [name])
    assert set(found["measure"]) == {SHARE, ASKED, OWN, BOTH, ALPHA}
    assert name in set(found["group"])
    assert found["n"].eq(0).all()
    assert found[["value", "low", "high"]].isna().all(axis=None)


def test_originals_of_no_known_group_do_not_count():
    given = answered(("1", "a", "group_original", "man"), ("1", "a", "group_edited", "man"))
    found = agreement(given, pairs_of(("1", "man", "")), ["a"])
    values = found[found["person"] == "a"].set_index("measure")
    assert values.loc[ASKED, "value"] == values.loc[BOTH, "value"] == 1
    assert values.loc[OWN, "n"] == 0


def nominal_alpha(units):
    """1 - observed over expected disagreement, pair by pair of values."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = sum(
        sum(a != b for a, b in product(unit, unit)) / (len(unit) - 1) for unit in units
    ) / max(n, 1)
    expected = sum(a != b for a, b in product(values, values)) / max(n * (n - 1), 1)
    return 1 - observed / expected if expected else math.nan


@given(st.lists(st.lists(st.sampled_from(["same", "different", "cannot tell"]), max_size=4)))
def test_alpha_equals_a_count_of_disagreeing_answers(units):
    given_ = [
        (f"{pair}", f"person {at}", "objects", answer)
        for pair, unit in enumerate(units)
        for at, answer in enumerate(unit)
    ]
    found = alphas(answered(*given_), GROUPS).set_index("question").loc["objects"]
    assert found["value"] == pytest.approx(nominal_alpha(units), nan_ok=True)
    assert found["n"] == sum(len(unit) for unit in units if len(unit) > 1)
