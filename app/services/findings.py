"""What a person should know about a result: why it is empty, and what makes it misleading."""

from collections.abc import Mapping

import pandas as pd

from generation.planning.plan import Plan
from graph.counting.cliques import Cliques
from graph.dataset.mining_options import MiningOptions
from graph.errors import Text

FEW = 50  # images: a class of fewer is small beside one with ten times as many
NO_COMMON_CONCEPT = "No concept is shown by every class, so no combination was counted"


def sizes_of(cliques: Cliques) -> dict[str, int]:
    """Images of each class, by name."""
    return dict(zip(cliques.classes, cliques.class_sizes.tolist(), strict=True))


def not_compared(class_sizes: Mapping[str, int], split: str | None = None) -> str:
    """Why nothing can be compared, in a sentence; empty if there are two classes with images.

    Examples
    --------
    >>> not_compared({"cat": 3, "dog": 0}, "val")
    "Nothing can be compared: in split 'val' only class 'cat' has images."
    >>> not_compared({"cat": 3, "dog": 1})
    ''
    """
    shown = [name for name, images in class_sizes.items() if images]
    if len(shown) > 1:
        return ""
    where = "" if split is None else f"in split {split!r} "
    who = f"only class {shown[0]!r} has" if shown else "no class has"
    return f"Nothing can be compared: {where}{who} images."


def no_clique(dataset: str, options: MiningOptions, class_sizes: Mapping[str, int]) -> Text:
    """Why a mined dataset has no clique at all, and what would give some."""
    if why := not_compared(class_sizes, options.split):
        return why
    if options.common != ():
        which = "every class" if options.common is None else " and ".join(options.common)
        often = f" in {options.min_support:,} images" if options.min_support > 1 else ""
        kept = options.again(dataset, common=())
        said = f"No concept is shown by {which}{often}, so nothing was counted. To keep concepts "
        return (f"{said}that some class never shows, ", kept, ".")
    if options.min_support > 1:
        often = f"No concept is in {options.min_support:,} images of a class. To count rarer ones, "
        return (often, options.again(dataset, min_support=1), ".")
    return "The images show no concepts."


def small_classes(class_sizes: Mapping[str, int], options: MiningOptions) -> str:
    """Warn of classes with few images beside one with many, which decide what is found.

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
    names = ", ".join(map(repr, few))
    sizes = ", ".join(f"{class_sizes[name]:,}" for name in few)
    head = "Class" if len(few) == 1 else "Classes"
    has = "has" if len(few) == 1 else "have"
    decides = options.common is None or not {*few}.isdisjoint(options.common)
    common = "a concept that those few happen not to show is left out as not common, and "
    return (
        f"{head} {names} {has} only {sizes} images, and {most!r} {class_sizes[most]:,}: "
        f"{common if decides else ''}{names} {'is' if len(few) == 1 else 'are'} nearly always too "
        "few. Compare rates, not counts."
    )


def plan_warnings(plan: Plan, summary: pd.DataFrame, images: int) -> list[str]:
    """Warn of a plan that is larger than its dataset, and of gaps that it leaves alone and widens.

    Parameters
    ----------
    summary : pandas.DataFrame
        From `generation.planning.simulation.summarize_plan`.
    images : int
        Of the dataset.
    """
    smallest = plan.options.min_size
    left = summary.reset_index().query("size < @smallest")
    before, after = int(left["total_gap_before"].sum()), int(left["total_gap_after"].sum())
    warnings = [
        larger_than_dataset(plan.images, images),
        smaller_gaps_grow(before, after, smallest),
    ]
    return [warning for warning in warnings if warning]


def smaller_gaps_grow(before: int, after: int, min_size: int) -> str:
    """Warn of gaps that grow because cliques below the smallest size are left alone.

    Examples
    --------
    >>> smaller_gaps_grow(12, 15, 3)[:78]
    'The gaps of smaller cliques, which the plan leaves alone, grow from 12 to 15. '
    >>> smaller_gaps_grow(12, 12, 2)
    ''
    """
    if after <= before:
        return ""
    smaller = "single concepts" if min_size == 2 else "smaller cliques"
    return (
        f"The gaps of {smaller}, which the plan leaves alone, grow from {before:,} to {after:,}. "
        "A smallest size of 1 closes them, too."
    )


def larger_than_dataset(planned: int, images: int) -> str:
    """Warn of a plan of more images than its dataset has; empty if it has as many or fewer.

    Examples
    --------
    >>> larger_than_dataset(30, 30), larger_than_dataset(37_874, 3_000)[:66]
    ('', 'The plan asks for more images than the dataset has: 37,874 for 3,0')
    """
    if planned <= images:
        return ""
    return (
        f"The plan asks for more images than the dataset has: {planned:,} for {images:,}. "
        "A budget, a limit for each query or a smaller largest size makes it smaller."
    )
