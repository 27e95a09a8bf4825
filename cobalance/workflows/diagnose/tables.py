"""Imbalances and mining results in tables and sentences."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cobalance.base import agree, inflect, text_if
from cobalance.base.safe_text import safe_text
from cobalance.counting import MiningOptions, rest_of
from cobalance.statistics import COUNT, MAX_Q_VALUE, RATE
from cobalance.workflows.cells import (
    class_pairs,
    is_missing,
    log_odds_texts,
    number_text,
    q_text,
    rate_texts,
)

COUNT_GAP = "count gap (ConBias)"
DISAGREEMENT = "counts and rates"
"""Columns of imbalance tables for people."""
COOCCURRENCES = (
    f"Combinations with a q-value of at most {MAX_Q_VALUE} first, by how many images more or fewer "
    "they have than their two parts would share by chance."
)


def describe_mining(options: MiningOptions) -> str:
    """Describe mining options in one sentence.

    Examples
    --------
    >>> describe_mining(MiningOptions())
    'Counted in all images: cliques of up to 4 concepts that every class shows.'
    >>> describe_mining(MiningOptions(2, 5, (), "train"))
    "Counted in split 'train': cliques of up to 2 concepts, in at least 5 images of a class."
    """
    images = "all images" if options.split is None else f"split {options.split!r}"
    condition = text_if(options.common != (), " that every class shows")
    if options.common:
        verb = agree(len(options.common), "shows", "show")
        condition = f" that {' and '.join(options.common)} {verb}"

    often = ""
    if options.min_support > 1:
        often = f", in at least {inflect(options.min_support, 'images')} of a class"

    size = inflect(options.max_size, "concepts")
    level = text_if(options.confidence != 0.95, f" Intervals of {options.confidence:.4g}.")
    return f"Counted in {images}: cliques of up to {size}{condition}{often}.{level}"


def describe_compared(compared: Sequence[str], class_sizes: Mapping[str, int]) -> str:
    """Say which concept a dataset is compared by, in a sentence; empty if by its classes.

    Examples
    --------
    >>> describe_compared((), {"all images": 9})
    ''
    >>> describe_compared(("cat", "dog"), {"cat": 4, "no cat": 5})
    "Compared: the 4 images with 'cat' and the 5 without."
    """
    if not compared:
        return ""
    with_concept, rest = class_sizes[compared[0]], class_sizes[rest_of(compared[0])]
    return f"Compared: the {with_concept:,} images with {compared[0]!r} and the {rest:,} without."


def imbalance_table(frame: pd.DataFrame, class_sizes: Mapping[str, int]) -> pd.DataFrame:
    """The columns of an imbalance table that people read; files have all.

    What counts and rates disagree on has a column where they do.
    """
    columns: dict[str, Any] = {
        **_clique_columns(frame),
        **count_columns(frame, class_sizes),
        "rate difference": effect_texts(frame),
        "q-value": frame["q_value"].map(q_text),
        COUNT_GAP: frame["gap"],
    }
    # Of two classes, the other one has most.
    if len(class_sizes) != 2:
        columns["most"] = frame["over_represented"].astype(object)

    columns |= {"too few": frame["under_represented"].astype(object), **disagreement_texts(frame)}
    columns["log odds ratio"] = log_odds_texts(frame)
    if "own_effect" in frame:
        columns |= own_texts(frame)
    return pd.DataFrame(columns)


def _clique_columns(frame: pd.DataFrame) -> dict[str, Any]:
    names = ["concepts", "clusters"] if "clusters" in frame else ["concepts"]
    return {name: frame[name] for name in names}


def count_columns(frame: pd.DataFrame, class_sizes: Mapping[str, int]) -> dict[str, Any]:
    """Images of each class, with their rates beside them where the classes are unequal."""
    columns: dict[str, Any] = {}
    for name in class_sizes:
        columns[name] = frame[COUNT + name]
        if are_unequal(class_sizes):
            columns[f"% of {name}"] = rate_texts(frame[RATE + name])
    return columns


def effect_texts(frame: pd.DataFrame) -> list[str]:
    """Differences of rates, the class with the highest and, of many, the lowest; a dash for none.

    Examples
    --------
    >>> effect_texts(pd.DataFrame({"effect": [0.3535, 0.0], "highest_rate": ["country", None],
    ...                            "lowest_rate": ["urban", None]}))
    ['+35.4% country vs urban', '-']
    """
    pairs = zip(frame["effect"], class_pairs(frame, "highest_rate", "lowest_rate"), strict=True)
    return [f"+{effect:.1%} {pair}" if effect else "-" for effect, pair in pairs]


def disagreement_texts(frame: pd.DataFrame) -> dict[str, list[str]]:
    """The column of where rates contradict counts, if any row has such words.

    Examples
    --------
    >>> disagreement_texts(pd.DataFrame({"disagreement": [None, "fewer images, higher rate"]}))
    {'counts and rates': ['', 'fewer images, higher rate']}
    """
    if frame["disagreement"].isna().all():
        return {}
    words = frame["disagreement"].astype(object)
    return {DISAGREEMENT: list(map(str, words.where(words.notna(), "")))}


def own_texts(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Text columns of own effects, from the columns of `own_effects` in the frame."""
    effects = zip(frame["own_effect"], frame["own_over"], strict=True)
    texts = {
        "own effect": [
            "-" if is_missing(over) else f"+{effect:.1%} {safe_text(str(over))}"
            for effect, over in effects
        ],
        "by its parts": rate_texts(frame["explained"]),
    }

    if "own_q_value" in frame:
        texts["own q-value"] = list(map(q_text, frame["own_q_value"]))
    return texts


def summary_table(frame: pd.DataFrame, class_sizes: Mapping[str, int]) -> pd.DataFrame:
    """The columns of `statistics.summary.summarize` that people read; files have all."""
    columns = {
        "group": frame["about"].map(", ".join),
        "concepts": frame["concepts"],
        **count_columns(frame, class_sizes),
        **own_texts(frame),
    }
    return pd.DataFrame(columns).rename(columns={"own q-value": "q-value"})


def cooccurrence_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of `statistics.cooccurrences.cooccurrence_table` that people read.

    Examples
    --------
    >>> row = {"concepts": ("cow", "meadow"), "images": 38, "expected": 20.04, "ratio": 1.896,
    ...        "part": ("cow",), "q_value": 0.00001}
    >>> print(cooccurrence_table(pd.DataFrame([row])).to_string(index=False))
         concepts  images expected ratio        parts q-value
    (cow, meadow)      38     20.0  1.90 cow | meadow  <0.001
    """
    parts = []
    for names, part in zip(frame["concepts"], frame["part"], strict=True):
        others = [name for name in names if name not in part]
        parts.append(f"{' + '.join(part)} | {' + '.join(others)}")

    columns = {
        **_clique_columns(frame),
        "images": frame["images"],
        "expected": frame["expected"].map("{:,.1f}".format),
        "ratio": [number_text(ratio, ".2f") for ratio in frame["ratio"]],
        "parts": parts,
        "q-value": frame["q_value"].map(q_text),
    }
    return pd.DataFrame(columns)


def describe_summary(shown: int, cliques: int) -> str:
    """Say how many cliques a summary shows, and how they were chosen.

    Examples
    --------
    >>> print(describe_summary(0, 1200))
    None of 1,200 combinations stands on its own.
    """
    if not shown:
        return f"None of {cliques:,} combinations stands on its own."
    if shown == 1:
        return (
            f"1 of {cliques:,} combinations has an effect of its own, beyond what smaller "
            "combinations explain."
        )
    return (
        f"The {shown:,} of {cliques:,} combinations with the largest effects of their own, beyond "
        "what smaller combinations explain, in groups of concepts that occur together."
    )


def are_unequal(class_sizes: Mapping[str, int]) -> bool:
    """Whether counts alone mislead: classes have different numbers of images.

    Examples
    --------
    >>> are_unequal({"cat": 100, "dog": 101}), are_unequal({"cat": 100, "dog": 100})
    (True, False)
    """
    return len({*class_sizes.values()}) > 1
