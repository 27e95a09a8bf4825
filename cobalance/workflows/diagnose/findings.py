"""Findings of a diagnosis in sentences: headline, caveats, and reasons for an empty result."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from cobalance.base import ALL_IMAGES, Action, Text, agree, inflect, text_if
from cobalance.counting import MiningOptions
from cobalance.statistics import EVIDENCE, MAX_Q_VALUE, OWN, RATE, SMALLEST_FIRST

LITTLE = 1.25
"""How many times likelier: below, two rates say more than their ratio."""
FEW = 50
"""Images: a class of fewer is small beside one with ten times as many."""
NAMED = 5
"""Cliques in a sentence."""
NO_COMMON_CONCEPT = "No concept is shown by every class, so no combination was counted"


def not_compared(class_sizes: Mapping[str, int], split: str | None = None) -> str:
    """Why nothing can be compared, in a sentence; empty if there are two classes with images.

    Examples
    --------
    >>> not_compared({"cat": 3, "dog": 0}, "val")
    "Nothing can be compared: in split 'val' only class 'cat' has images."
    >>> not_compared({"cat": 3, "dog": 1})
    ''
    """
    classes = [name for name, images in class_sizes.items() if images]
    if len(classes) > 1:
        return ""
    if classes == [ALL_IMAGES]:
        return "The images have no classes, so that nothing leans to one."
    where = text_if(split is not None, f"in split {split!r} ")
    subject = f"only class {classes[0]!r} has" if classes else "no class has"
    return f"Nothing can be compared: {where}{subject} images."


def mining_warnings(class_sizes: Mapping[str, int], options: MiningOptions) -> list[str]:
    """Warn of classes that cannot be compared, or that have few images."""
    warnings = (not_compared(class_sizes, options.split), small_classes(class_sizes, options))
    return list(filter(None, warnings))


def no_clique(dataset: str, options: MiningOptions, class_sizes: Mapping[str, int]) -> Text:
    """Explain why a mined dataset has no clique, and how to get some."""
    if reason := not_compared(class_sizes, options.split):
        return reason

    support = f"in {options.min_support:,} images"
    if options.common != ():
        classes = "every class" if options.common is None else " and ".join(options.common)
        often = text_if(options.min_support > 1, f" {support}")
        text = f"No concept is shown by {classes}{often}, so nothing was counted. To keep concepts "
        return (f"{text}that some class never shows, ", Action("mine", dataset, common=()), ".")
    if options.min_support > 1:
        text = f"No concept is {support} of a class. To count rarer ones, "
        return (text, Action("mine", dataset, min_support=1), ".")
    return "The images show no concepts."


def small_classes(class_sizes: Mapping[str, int], options: MiningOptions) -> str:
    """Warn of classes with few images beside one with many.

    Examples
    --------
    >>> print(small_classes({"cat": 3000, "dog": 20}, MiningOptions()))
    Class 'dog' has only 20 images, and 'cat' 3,000: a concept that those few happen not to show \
is left out as not common, and 'dog' is nearly always too few. Compare rates, not counts.
    >>> small_classes({"cat": 300, "dog": 200}, MiningOptions())
    ''
    """
    most = max(class_sizes, key=lambda name: class_sizes[name], default="")
    few = [name for name, n in class_sizes.items() if n < FEW and 10 * n <= class_sizes[most]]
    if not few:
        return ""

    head, has, are = ("Class", "has", "is") if len(few) == 1 else ("Classes", "have", "are")
    names = ", ".join(map(repr, few))
    sizes = ", ".join(f"{class_sizes[name]:,}" for name in few)
    # Small classes decide which concepts are common unless others are named for it.
    common = ""
    if options.common is None or not {*few}.isdisjoint(options.common):
        common = "a concept that those few happen not to show is left out as not common, and "
    return (
        f"{head} {names} {has} only {sizes} images, and {most!r} {class_sizes[most]:,}: "
        f"{common}{names} {are} nearly always too few. Compare rates, not counts."
    )


def describe_order(by: str, descending: bool | None = None) -> str:
    """Describe the order of an imbalance table.

    Examples
    --------
    >>> print(describe_order("gap"))
    Sorted by count gap (ConBias), the largest first: images that the class with the fewest lacks, \
however many images each class has.
    >>> describe_order("q_value"), describe_order("lift", descending=False)
    ('Sorted by q-value, the smallest first.', 'Sorted by lift, the smallest first.')
    """
    largest = by not in SMALLEST_FIRST if descending is None else descending
    first = "largest" if largest else "smallest"
    if by == EVIDENCE:
        ends = "first, then the others" if largest else "last, after the others"
        return (
            f"Sorted by evidence: combinations with a q-value of at most {MAX_Q_VALUE} {ends}, the "
            f"{first} difference of rates first."
        )
    if by == OWN:
        return (
            f"Only combinations that stand on their own: a q-value of at most {MAX_Q_VALUE} beyond "
            "what their parts explain, the largest own effect first."
        )

    names = {"gap": "count gap (ConBias)", "q_value": "q-value", "p_value": "p-value"}
    meaning = {
        "gap": ": images that the class with the fewest lacks, however many images each class has",
        "log_odds_ratio": ": of the class with the highest rate against the one with the lowest",
    }
    name = names.get(by, by.replace("_", " "))
    return f"Sorted by {name}, the {first} first{meaning.get(by, '')}."


def headline(
    leaning: int,
    cliques: int,
    strongest: Mapping[str, Any] | None,
    class_sizes: Mapping[str, int],
    shown: Callable[[str], str] = str,
) -> str:
    """Say how many combinations lean to a class, and how strongly the strongest does.

    Parameters
    ----------
    leaning, cliques : int
        Of `cobalance.graph.dataset.cliques.CliqueTotals`.
    strongest : mapping or None
        The first row of an imbalance table in the order of evidence; None without cliques.
    shown : callable
        How names are written, such as for Markdown.

    Examples
    --------
    >>> row = {"concepts": ("cow",), "highest_rate": "country", "lowest_rate": "urban",
    ...        "rate_country": 0.19, "rate_urban": 0.01}
    >>> headline(86, 89, row, {"country": 100, "urban": 100})
    '86 of 89 combinations lean. cow is 19 times likelier in country.'
    >>> headline(1, 89, {**row, "rate_urban": 0.0}, {"country": 100, "urban": 100})
    '1 of 89 combinations leans. cow is in 19.0% of country, and in no image of urban.'
    >>> headline(0, 89, row, {"country": 100, "urban": 100})
    'None of 89 combinations leans to a class.'
    """
    text = count_leaning(leaning, cliques)
    if not leaning or strongest is None:
        return text
    return f"{text} {describe_lean(strongest, class_sizes, shown)}"


def count_leaning(leaning: int, cliques: int) -> str:
    """Say how many combinations lean to a class.

    Examples
    --------
    >>> count_leaning(1, 1200), count_leaning(0, 9)
    ('1 of 1,200 combinations leans.', 'None of 9 combinations leans to a class.')
    """
    if not leaning:
        return f"None of {inflect(cliques, 'combinations')} leans to a class."
    return f"{leaning:,} of {inflect(cliques, 'combinations')} {agree(leaning, 'leans', 'lean')}."


def describe_lean(
    row: Mapping[str, Any], class_sizes: Mapping[str, int], shown: Callable[[str], str] = str
) -> str:
    """Say how much more often the class with the highest rate shows a combination.

    Parameters
    ----------
    row : mapping
        A row of an imbalance table whose rates differ.
    shown : callable
        How names are written, such as for Markdown.

    Examples
    --------
    >>> describe_lean({"concepts": ("cow",), "highest_rate": "country", "lowest_rate": "urban",
    ...                "rate_country": 0.19, "rate_urban": 0.01}, {"country": 100, "urban": 100})
    'cow is 19 times likelier in country.'
    """
    high, low = row["highest_rate"], row["lowest_rate"]
    most, least = float(row[RATE + high]), float(row[RATE + low])
    name = shown(" + ".join(row["concepts"]))
    if not least:
        return f"{name} is in {most:.1%} of {shown(high)}, and in no image of {shown(low)}."
    if most / least < LITTLE:
        return f"{name} is in {most:.1%} of {shown(high)}, and in {least:.1%} of {shown(low)}."

    times = most / least
    # From 9.95 on a number with one digit after the point would be rounded to 10.0.
    number = f"{times:,.0f}" if times >= 9.95 else f"{times:.1f}".removesuffix(".0")
    than = text_if(len(class_sizes) > 2, f" than in {shown(low)}")
    return f"{name} is {number} times likelier in {shown(high)}{than}."


def describe_disagreements(frame: pd.DataFrame) -> str:
    """Say in how many rows of an imbalance table rates contradict counts; empty for none.

    Examples
    --------
    >>> describe_disagreements(pd.DataFrame({"disagreement": [None, "fewer images, higher rate"]}))
    'In 1 of 2 rows counts and rates disagree.'
    """
    contradicted = int(frame["disagreement"].notna().sum())
    if not contradicted:
        return ""
    return f"In {contradicted:,} of {inflect(len(frame), 'rows')} counts and rates disagree."


def describe_leaning(leaning: int, unproven: int) -> str:
    """Say how many combinations lean to a class, and how many more have a gap.

    Examples
    --------
    >>> describe_leaning(85, 4107)
    '85 lean to a class (q \u2264 0.05), 4,107 more have a gap without such evidence'
    >>> describe_leaning(1, 0)
    '1 leans to a class (q \u2264 0.05)'
    """
    verb = agree(leaning, "leans", "lean")
    text = f"{leaning:,} {verb} to a class (q ≤ {MAX_Q_VALUE})"
    if not unproven:
        return text
    have = agree(unproven, "has", "have")
    return f"{text}, {unproven:,} more {have} a gap without such evidence"
