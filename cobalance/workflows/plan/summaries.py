"""Plans in words: tables, summaries and warnings."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cobalance.base import IntArray, Setting, Text, agree, inflect, text_if
from cobalance.counting import Cliques, MiningOptions
from cobalance.generation import WHOLE_IMAGES, Plan, PlannedImages, find_leaning, widened_rows
from cobalance.statistics import MAX_Q_VALUE, disagreements, find_rows, rate_differences
from cobalance.workflows.cells import change_text, change_texts, count_texts, more_text
from cobalance.workflows.diagnose.findings import NAMED, no_clique, not_compared

if TYPE_CHECKING:
    from cobalance.workflows.plan.planners import Planned


COUNTS_ALONE = (
    "Only counts are at hand, not images, so that the plan is of cliques, not whole images."
)
FEW_REAL = 50
"""Real images of a class: of 20 to 50 and fewer a GAN's images were seen to do harm."""
# Bits vary by so much from the folds of images that they are learned on.
_FOLDS_ERROR = 0.01

# Bits that are shown as 0.00.
_NO_BITS = 0.005


def describe_proof(plan: Plan | PlannedImages) -> str:
    """Describe whether a plan is proven best; empty if the planner does not say."""
    if plan.note or not plan.proven:
        return plan.note
    return "Proven: no other plan does better by the planner's aim."


def plan_table(planned: "Planned") -> pd.DataFrame:
    """Effect of a plan per clique size, in the columns that fit a terminal."""
    summary = planned.summary.reset_index().query("cliques > 0")
    table = summary[["size", "cliques"]].reset_index(drop=True)
    if balances_rates(planned.plan):
        leaning = _lean_by_size(planned.cliques, planned.after).loc[table["size"]]
        table["lean to a class"] = change_texts(leaning["leaned"], leaning["leans"])
        table["rate differences of those that leaned"] = change_texts(
            leaning["before"], leaning["after"], ".2f"
        )
        return table

    for label, name in (("imbalanced", "imbalanced"), ("sum of gaps", "total_gap")):
        table[label] = change_texts(summary[f"{name}_before"], summary[f"{name}_after"])
    for name in planned.cliques.classes:
        table[f"make {name}"] = summary[f"images_{name}"].to_numpy()
    return table


def _lean_by_size(before: Cliques, after: Cliques) -> pd.DataFrame:
    """Leaning cliques of each size, and rate differences of the ones that lean before."""
    leaned = find_leaning(before)
    frame = pd.DataFrame({"leaned": leaned, "leans": find_leaning(after)})
    for when, cliques in (("before", before), ("after", after)):
        differences = rate_differences(cliques.counts, cliques.class_sizes)[0]
        frame[when] = np.where(leaned, differences, 0.0)
    return frame.groupby(before.sizes()).sum()


def describe_worth(measures: Mapping[str, int | float]) -> str:
    """Describe a plan's measures: leaning cliques, rate differences, concepts alone.

    Parameters
    ----------
    measures : mapping
        From `cobalance.generation.planning.effects.measure_all`.

    Examples
    --------
    >>> describe_worth({"leaning_before": 69, "leaning": 3, "difference_before": 5.25,
    ...                 "difference": 0.5, "largest_before": 0.354, "largest": 0.2, "widened": 0})
    'Cliques that lean to a class: 69 → 3. The rates of those 69 differ by 5.25 → 0.50 in all; the \
largest difference is 35.4% → 20.0%; none is widened.'
    >>> bits = {"bits_before": 0.04, "bits": 0.0, "bits_most": 1.0}
    >>> describe_worth({"leaning_before": 1, "leaning": 1, "difference_before": 0.5,
    ...                 "difference": 0.5, "largest_before": 0.5, "largest": 0.5, "widened": 0,
    ...                 **bits}).partition("widened. ")[2]
    'Concepts alone tell 0.04 → 0.00 of 1 bit of the class, by a regression on single concepts; \
combinations that lean may tell more.'
    """
    widened = int(measures["widened"])
    widens = "none is"
    if widened:
        widens = f"{widened:,} {agree(widened, 'is', 'are')}"

    n_before = int(measures["leaning_before"])
    those = "that one" if n_before == 1 else f"those {n_before:,}"
    text = (
        f"Cliques that lean to a class: {_change(measures, 'leaning', ',.0f')}. The rates of "
        f"{those} differ by {_change(measures, 'difference', '.2f')} in all; the "
        f"largest difference is {_change(measures, 'largest', '.1%')}; {widens} widened."
    )
    # Without images nothing is learned of concepts alone.
    if "bits" not in measures:
        return text

    ending = "; 0 is no shortcut."
    if measures["leaning"] and measures["bits"] < _NO_BITS:
        ending = ", by a regression on single concepts; combinations that lean may tell more."
    return f"{text} Concepts alone tell {bits_text(measures)} of the class{ending}"


def bits_text(measures: Mapping[str, int | float]) -> str:
    """Bits that concepts alone tell, before and after a plan, and the most that can be told.

    Examples
    --------
    >>> bits_text({"bits_before": 0.634, "bits": 0.21, "bits_most": 1.0})
    '0.63 → 0.21 of 1 bit'
    >>> bits_text({"bits_before": 0.634, "bits": 0.21, "bits_most": 2.585})
    '0.63 → 0.21 of 2.58 bits'
    """
    most = measures["bits_most"]
    unit = "bit" if most == 1 else "bits"
    return f"{_change(measures, 'bits', '.2f')} of {most:.3g} {unit}"


def _change(measures: Mapping[str, int | float], name: str, form: str) -> str:
    return change_text(measures[f"{name}_before"], measures[name], form)


def describe_worse(measures: Mapping[str, int | float]) -> str:
    """Name what a plan makes worse beyond chance: the largest difference, or bits; else empty.

    Examples
    --------
    >>> describe_worse({"largest_before": 0.2, "largest": 0.3, "largest_p": 1e-6})
    'The plan makes something worse: the largest rate difference grows (20.0% → 30.0%).'
    >>> describe_worse({"bits_before": 0.532, "bits": 0.545, "bits_error": 0.009, "bits_most": 1.0})
    ''
    """
    worse = []
    grows = measures.get("largest", 0) > measures.get("largest_before", 0)
    if grows and measures["largest_p"] <= MAX_Q_VALUE:
        worse.append(f"the largest rate difference grows ({_change(measures, 'largest', '.1%')})")

    # Two standard errors, as a test of 5% has it.
    noise = max(_FOLDS_ERROR, 2 * measures.get("bits_error", 0.0))
    if measures.get("bits", 0) > measures.get("bits_before", 0) + noise:
        worse.append(f"concepts alone tell more of the class ({bits_text(measures)})")
    return text_if(worse, f"The plan makes something worse: {' and '.join(worse)}.")


def describe_sizes(planned: "Planned") -> Text:
    """Describe the sizes that a plan was chosen from; empty where there was no choice."""
    if planned.sizes is None or not planned.plan.images:
        return ""
    cards = planned.sizes.cards()
    if len(cards) == 1:
        return ""

    sentences = []
    for name, sized in cards.items():
        this_plan = text_if(sized.plan == planned.plan, " (this plan)")
        sentences.append(
            f"{name}{this_plan}: {inflect(sized.images, 'images')}, "
            f"{sized.measures['leaning']:,} still lean, largest difference "
            f"{sized.measures['largest']:.1%}."
        )
    return (" ".join(sentences) + " To choose another: ", Setting("budget"), ".")


def balances_rates(plan: Plan) -> bool:
    """Whether a plan balances rates, the share of each class's images, and not counts."""
    return plan.planner == WHOLE_IMAGES or bool(plan.planner_options.get("rates"))


def describe_plan(plan: Plan) -> str:
    """Summarize a plan in one sentence."""
    by_class = ", ".join(count_texts(plan.images_by_class().items()))
    images = inflect(plan.images, "images")
    if by_class:
        images += f" ({by_class})"
    return f"The plan asks for {images} in {inflect(len(plan.queries), 'queries')}."


def count_contradicted(plan: Plan, cliques: Cliques) -> tuple[int, int]:
    """How many of the cliques that a plan has images for rates contradict, and how many there are.

    Rates contradict those that an imbalance table has words for, see
    `cobalance.statistics.association.disagreements`; none where a planner balances rates.
    """
    planned = sorted({query.concepts for query in plan.queries})
    if balances_rates(plan):
        return 0, len(planned)
    rows = find_rows(cliques, planned)
    chosen = cliques.take(rows[rows >= 0])
    n_disagreements = disagreements(chosen.counts, chosen.class_sizes)
    return int((n_disagreements > 0).sum()), len(planned)


def plan_notes(planned: "Planned") -> list[Text]:
    """Notes on a plan: balance, proof, widened gaps, size, and why it is empty."""
    plan, cliques, state = planned.plan, planned.cliques, planned.state
    notes: list[Text] = [describe_balance(plan, cliques)]
    if planned.images is None:
        notes.insert(0, COUNTS_ALONE)
    if plan.images:
        notes.append(describe_worth(planned.measures))

    notes += [describe_sizes(planned), describe_proof(plan)]
    if plan.images:
        notes.append(describe_worse(planned.measures))
    notes.append(describe_widened(cliques, planned.after))
    notes += plan_warnings(cliques, planned.after, plan)

    if not plan.images and not plan.note:
        smallest = plan.options.min_size or 1
        mining = state.mining_options()
        notes.append(no_images(state.name, cliques, planned.chosen, smallest, mining))
    return list(filter(None, notes))


def plan_warnings(before: Cliques, after: Cliques, plan: Plan) -> list[str]:
    """Warn of a plan of more images than the dataset has, and of gaps that it leaves and widens.

    Parameters
    ----------
    before, after : Cliques
        The counts without and with the plan's images.
    """
    warnings = []
    if plan.images > (total := int(before.class_sizes.sum())):
        warnings.append(
            f"The plan asks for more images than the dataset has: {plan.images:,} for {total:,}. "
            "A budget, a limit for each query or a smaller largest size makes it smaller."
        )
    if small := _small_classes(before, plan):
        warnings.append(small)
    # It plans for cliques of all sizes at once.
    if plan.planner == WHOLE_IMAGES:
        return warnings

    min_size = plan.options.min_size or 1
    smaller = before.sizes() < min_size
    gaps_before, gaps_after = int(before.gaps()[smaller].sum()), int(after.gaps()[smaller].sum())

    if gaps_after > gaps_before:
        kind = "single concepts" if min_size == 2 else "smaller cliques"
        warnings.append(
            f"The gaps of {kind}, which the plan leaves alone, grow from {gaps_before:,} to "
            f"{gaps_after:,}. A smallest size of 1 closes them, too."
        )
    return warnings


def _small_classes(before: Cliques, plan: Plan) -> str:
    """Warn of images for classes of which there are few real ones; empty for none."""
    sizes = dict(zip(before.classes, before.class_sizes.tolist(), strict=True))
    small = [name for name in plan.images_by_class() if sizes[name] < FEW_REAL]
    if not small:
        return ""
    texts = count_texts((name, sizes[name]) for name in small[:NAMED])
    named = ", ".join(texts) + more_text(len(small) - NAMED)
    return (
        f"Fewer than {FEW_REAL} real images: {named}. From so few, generated images have made a "
        "classifier more biased in one study (arXiv 2603.16134): validate before you train on them."
    )


def describe_widened(before: Cliques, after: Cliques) -> str:
    """Name the leaning cliques whose rates a plan draws apart, the most first; empty for none.

    Examples
    --------
    >>> import numpy as np
    >>> was = Cliques(np.array([[0, 1], [1, -1]]), np.array([[30, 50], [20, 10]]),
    ...               np.array([90, 90]), ("cow", "road"), ("country", "urban"))
    >>> becomes = Cliques(was.members, np.array([[30, 50], [70, 10]]), was.class_sizes,
    ...                   was.concepts, was.classes)
    >>> describe_widened(was, becomes), describe_widened(was, was)
    ('The plan widens 1 rate difference: road (11.1% → 66.7%).', '')
    """
    rows = widened_rows(before, after)
    if not len(rows):
        return ""
    first_rows = rows[:NAMED]
    rates_before = rate_differences(before.counts[first_rows], before.class_sizes)[0]
    rates_after = rate_differences(after.counts[first_rows], after.class_sizes)[0]

    changes = change_texts(rates_before, rates_after, ".1%")
    cliques = []
    for names, change in zip(before.take(first_rows).names(), changes, strict=True):
        cliques.append(f"{' + '.join(names)} ({change})")

    more = more_text(len(rows) - len(first_rows))
    return f"The plan widens {inflect(len(rows), 'rate differences')}: {', '.join(cliques)}{more}."


def no_images(
    dataset: str, cliques: Cliques, rows: IntArray, min_size: int, mining: MiningOptions
) -> Text:
    """Explain why a plan for some cliques asks for no images, and how to get some.

    Examples
    --------
    >>> import numpy as np
    >>> found = Cliques(np.array([[0, -1], [1, -1], [0, 1]]), np.array([[2, 1], [1, 2], [1, 1]]),
    ...                 np.array([3, 3]), ("cow", "road"), ("country", "urban"))
    >>> from cobalance.base.errors import render
    >>> print(render(no_images("cars", found, np.array([2]), 2, MiningOptions())))
    No gap to close: every class shows each of its cliques in as many images. Gaps remain in 2 \
smaller cliques: to close them, too, plan with min_size=1.
    """
    class_sizes = cliques.class_images()
    if not len(cliques.counts) or not_compared(class_sizes):
        return no_clique(dataset, mining, class_sizes)

    has_gap = cliques.gaps() > 0
    if n_gaps := int(has_gap[rows].sum()):
        if not find_leaning(cliques)[rows].any():
            return (
                f"Its gaps ({n_gaps:,}) may be chance: none of the cliques leans to a class (q ≤ "
                f"{MAX_Q_VALUE:g})."
            )
        return (
            f"Its gaps ({n_gaps:,}) stay: they are within the planner's tolerance, were taken out "
            "by hand, or no audit supports them."
        )

    text = "No gap to close: every class shows each of its cliques in as many images."
    if smaller := int(has_gap[cliques.sizes() < min_size].sum()):
        text += f" Gaps remain in {inflect(smaller, 'smaller cliques')}: to close them, too, "
        return (f"{text}plan with ", Setting("min_size", 1), ".")
    return text


def describe_balance(plan: Plan, cliques: Cliques) -> str:
    """Say whether a plan balances counts or rates, and how many of its cliques rates contradict.

    Examples
    --------
    >>> import numpy as np
    >>> from cobalance.generation.planning.planners import plan
    >>> from cobalance.generation.planning.plan import PlanOptions
    >>> found = Cliques(np.array([[0], [1]]), np.array([[30, 20], [30, 10]]), np.array([100, 50]),
    ...                 ("cow", "road"), ("country", "urban"))
    >>> describe_balance(plan(found, "conbias", PlanOptions(1, 1)), found)
    'The plan balances counts, not rates: the rates contradict 1 of its 2 cliques.'
    """
    if balances_rates(plan):
        return "The plan balances rates, the share of each class's images, not counts."
    contradicted, planned = count_contradicted(plan, cliques)
    if not planned:
        return ""

    cliques_text = inflect(planned, "cliques")
    if contradicted:
        reason = f"the rates contradict {contradicted:,} of its {cliques_text}"
    else:
        reason = f"rates and counts agree on {'all' if planned > 1 else 'its'} {cliques_text}"
    return f"The plan balances counts, not rates: {reason}."
