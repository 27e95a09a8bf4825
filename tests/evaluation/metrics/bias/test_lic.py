"""LIC on captions whose groups are plain, hidden, or not there at all."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from cobalance.base.errors import DataError
from cobalance.evaluation.metrics.bias.attackers import AttackOptions
from cobalance.evaluation.metrics.bias.lic import lic
from tests.evaluation.metrics.bias.scored import value

WORDS = {"man": "man", "woman": "woman"}
THINGS = ("a dog", "a bench", "the beach", "an umbrella", "two horses", "a red bus")


def captions(
    groups: dict[str, str], seed: int, *, cue: str = "{thing}", each: int = 1
) -> pd.DataFrame:
    """A caption such as "A man with a dog", in which `cue` may tell the group."""
    rng = np.random.default_rng([seed, 1])
    rows = []
    for image, group in groups.items():
        for _ in range(each):
            thing = cue.format(thing=rng.choice(THINGS), sport=f"{group}ly sport")
            rows.append((image, f"A {WORDS[group].upper()} with {thing}."))
    return pd.DataFrame(rows, columns=["image", "caption"])


def people(n: int, seed: int) -> dict[str, str]:
    rng = np.random.default_rng(seed)
    return {f"{i}.jpg": str(rng.choice(["man", "woman"])) for i in range(n)}


def score(groups: dict[str, str], told: pd.DataFrame, by_people: pd.DataFrame, **options: object):
    masked = options.pop("words", list(WORDS.values()))
    return lic(
        told,
        by_people,
        groups,
        words=masked,  # type: ignore[arg-type]
        rng=np.random.default_rng(5),
        options=AttackOptions(repeats=1, **options),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("seed", range(3))
def test_masked_captions_and_shuffled_groups_are_chance(seed: int) -> None:
    groups = people(400, seed)
    told, by_people = captions(groups, seed), captions(groups, seed + 10, each=5)
    scores = score(groups, told, by_people)
    n = int(value(scores, "lic_model", column="n"))
    low, high = binom.ppf([0.001, 0.999], n, 0.5) / n
    assert low <= value(scores, "attacker_accuracy_model") <= high
    assert low <= value(scores, "attacker_accuracy_data") <= high
    assert abs(value(scores, "lic")) < 0.15

    others = np.random.default_rng(seed).permutation([*groups.values()])
    shuffled = dict(zip(groups, others, strict=True))
    scores = score(shuffled, told, by_people, words=[])
    n = int(value(scores, "lic_model", column="n"))
    low, high = binom.ppf([0.001, 0.999], n, 0.5) / n
    assert low <= value(scores, "attacker_accuracy_model") <= high


def test_words_of_the_group_that_are_not_masked_tell_it_always() -> None:
    groups = people(120, 0)
    scores = score(groups, captions(groups, 1), captions(groups, 2, each=5), words=["woman"])
    # "man" is left, and is there or not
    assert value(scores, "attacker_accuracy_model") == 1
    assert value(scores, "lic_model") > 0.97
    assert value(scores, "lic") == pytest.approx(0, abs=0.03)


def test_a_model_that_tells_more_than_people_do_has_a_positive_lic() -> None:
    groups = people(300, 0)
    told = captions(groups, 1, cue="{thing} in a {sport}")
    scores = score(groups, told, captions(groups, 2, each=5))
    assert value(scores, "attacker_accuracy_model") == 1
    assert value(scores, "lic", column="low") > 0.3


def test_words_that_the_model_never_says_do_not_count_against_people() -> None:
    groups = people(300, 0)
    by_people = captions(groups, 2, cue="{thing} in a {sport}", each=5)
    scores = score(groups, captions(groups, 1), by_people)
    assert value(scores, "attacker_accuracy_data") < 0.75  # "manly" is not in the model's words


def test_the_same_seed_gives_the_same_lic() -> None:
    groups = people(60, 0)
    both = [score(groups, captions(groups, 1), captions(groups, 2, each=2)) for _ in range(2)]
    pd.testing.assert_frame_equal(*both)


def test_phrases_and_possessives_are_masked() -> None:
    groups = {f"{i}": "man" if i % 2 else "woman" for i in range(60)}
    texts = {"man": "An old  man's hat", "woman": "A Business-woman's hat"}
    told = pd.DataFrame({"image": list(groups), "caption": [texts[g] for g in groups.values()]})
    scores = score(groups, told, told, words=["an old  man", "a business-woman"])
    assert value(scores, "attacker_accuracy_model") == 0.5


def test_what_cannot_be_used_says_why() -> None:
    groups = people(20, 0)
    told = captions(groups, 1)
    with pytest.raises(DataError, match="captions have no column caption"):
        score(groups, told.drop(columns="caption"), told)
    with pytest.raises(DataError, match="of 0 groups"):
        score(groups, told, told.head(0))
    with pytest.raises(DataError, match="needs 2"):
        score({"0.jpg": "man", "1.jpg": "woman"}, told, told)
