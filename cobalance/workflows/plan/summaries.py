"""Plans in words: tables, summaries and warnings."""

from typing import TYPE_CHECKING

import pandas as pd

from cobalance.generation.planning.effects import widened_rows
from cobalance.generation.planning.plan import Plan, PlannedImages
from cobalance.generation.planning.simulation import simulate
from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.dataset.mining_options import MiningOptions
from cobalance.graph.diagnosis.association import disagreements
from cobalance.graph.diagnosis.selection import find_rows
from cobalance.graph.errors import Setting, Text
from cobalance.graph.plurals import inflect
from cobalance.workflows.cells import change_texts
from cobalance.workflows.diagnose.findings import NAMED, no_clique, not_compared

if TYPE_CHECKING:
    from cobalance.workflows.plan.planners import Planned


def describe_proof(found: Plan | PlannedImages) -> str:
    """Describe whether a plan is proven best; empty if the planner does not say."""
    proven = "Proven: no other plan does better by the planner's aim." if found.proven else ""
    return found.note or proven


def plan_table(planned: "Planned") -> pd.DataFrame:
    """Effect of a plan per clique size, in the columns that fit a terminal."""
    of_sizes = planned.summary
    summary = of_sizes.reset_index().query("cliques > 0")
    return pd.DataFrame(
        {
            "size": summary["size"],
            "cliques": summary["cliques"],
            **{
                label: change_texts(summary[f"{name}_before"], summary[f"{name}_after"])
                for label, name in (("imbalanced", "imbalanced"), ("sum of gaps", "total_gap"))
            },
            **{
                f"make {name.removeprefix('images_')}": summary[name]
                for name in of_sizes.columns
                if name.startswith("images_")
            },
        }
    )


def describe_plan(plan: Plan) -> str:
    """Summarize a plan in one sentence."""
    by_class = ", ".join(f"{n:,} {name}" for name, n in plan.images_by_class().items())
    images = inflect(plan.images, "images") + (f" ({by_class})" if by_class else "")
    return f"The plan asks for {images} in {inflect(len(plan.queries), 'queries')}."


def count_contradicted(plan: Plan, cliques: Cliques) -> tuple[int, int]:
    """How many of the cliques that a plan has images for rates contradict, and how many there are.

    Rates contradict those that an imbalance table has words for, see
    `cobalance.graph.diagnosis.association.disagreements`; none where a planner balances rates.
    """
    planned = sorted({query.concepts for query in plan.queries})
    if plan.planner_options.get("rates"):
        return 0, len(planned)
    rows = find_rows(cliques, planned)
    chosen = cliques.take(rows[rows >= 0])
    found = disagreements(chosen.counts, chosen.class_sizes)
    return int((found > 0).sum()), len(planned)


def plan_notes(planned: "Planned") -> list[Text]:
    """Notes on a plan: balance, proof, widened gaps, size, and why it is empty."""
    plan, cliques, state = planned.plan, planned.cliques, planned.state
    after = simulate(cliques, plan.queries)
    notes: list[Text] = [
        describe_balance(plan, cliques),
        describe_proof(plan),
        describe_widened(cliques, after),
        *plan_warnings(cliques, after, plan.images, plan.options.min_size),
    ]
    if not plan.images:
        rows, smallest = plan.options.rows(cliques), plan.options.min_size
        notes.append(no_images(state.name, cliques, rows, smallest, state.mining_options()))
    return [note for note in notes if note]


def plan_warnings(before: Cliques, after: Cliques, images: int, min_size: int) -> list[str]:
    """Warn of a plan of more images than the dataset has, and of gaps that it leaves and widens.

    Parameters
    ----------
    before, after : Cliques
        The counts without and with the plan's images.
    """
    warnings = []
    if images > (total := int(before.class_sizes.sum())):
        warnings.append(
            f"The plan asks for more images than the dataset has: {images:,} for {total:,}. "
            "A budget, a limit for each query or a smaller largest size makes it smaller."
        )
    smaller = before.sizes() < min_size
    was, becomes = (int(one.gaps()[smaller].sum()) for one in (before, after))
    if becomes > was:
        warnings.append(
            f"The gaps of {'single concepts' if min_size == 2 else 'smaller cliques'}, which the "
            f"plan leaves alone, grow from {was:,} to {becomes:,}. A smallest size of 1 closes "
            "them, too."
        )
    return warnings


def describe_widened(before: Cliques, after: Cliques) -> str:
    """Name the cliques whose gap a plan widens, the most widened first; empty for none.

    Examples
    --------
    >>> import numpy as np
    >>> was = Cliques(np.array([[0, 1], [1, -1]]), np.array([[3, 5], [2, 1]]), np.array([9, 9]),
    ...               ("cow", "road"), ("country", "urban"))
    >>> becomes = Cliques(was.members, np.array([[3, 5], [7, 1]]), was.class_sizes, was.concepts,
    ...                   was.classes)
    >>> describe_widened(was, becomes), describe_widened(was, was)
    ('The plan widens 1 gap: road (1 → 6 images).', '')
    """
    rows = widened_rows(before, after)
    if not len(rows):
        return ""
    shown = rows[:NAMED]
    changes = zip(before.gaps()[shown].tolist(), after.gaps()[shown].tolist(), strict=True)
    named = ", ".join(
        f"{' + '.join(names)} ({was:,} → {becomes:,} images)"
        for names, (was, becomes) in zip(before.take(shown).names(), changes, strict=True)
    )
    more = len(rows) - len(shown)
    return (
        f"The plan widens {inflect(len(rows), 'gaps')}: {named}"
        + (f" and {more:,} more" if more else "")
        + "."
    )


def no_images(
    dataset: str, cliques: Cliques, rows: IntArray, min_size: int, mining: MiningOptions
) -> Text:
    """Explain why a plan for some cliques asks for no images, and how to get some.

    Examples
    --------
    >>> import numpy as np
    >>> found = Cliques(np.array([[0, -1], [1, -1], [0, 1]]), np.array([[2, 1], [1, 2], [1, 1]]),
    ...                 np.array([3, 3]), ("cow", "road"), ("country", "urban"))
    >>> from cobalance.graph.errors import render
    >>> print(render(no_images("cars", found, np.array([2]), 2, MiningOptions())))
    No gap to close: every class shows each of its cliques in as many images. Gaps remain in 2 \
smaller cliques: to close them, too, plan with min_size=1.
    """
    class_sizes = cliques.class_images()
    if not len(cliques.counts) or not_compared(class_sizes):
        return no_clique(dataset, mining, class_sizes)
    has_gap = cliques.gaps() > 0
    if left := int(has_gap[rows].sum()):
        return (
            f"Its gaps ({left:,}) stay: they are within the planner's tolerance, were taken out by "
            "hand, or no audit supports them."
        )
    said = "No gap to close: every class shows each of its cliques in as many images."
    if smaller := int(has_gap[cliques.sizes() < min_size].sum()):
        said += f" Gaps remain in {inflect(smaller, 'smaller cliques')}: to close them, too, "
        return (f"{said}plan with ", Setting("min_size", 1), ".")
    return said


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
    if plan.planner_options.get("rates"):
        return "The plan balances rates, the share of each class's images, not counts."
    contradicted, planned = count_contradicted(plan, cliques)
    if not planned:
        return ""
    named = inflect(planned, "cliques")
    if contradicted:
        said = f"the rates contradict {contradicted:,} of its {named}"
    else:
        said = f"rates and counts agree on {'all' if planned > 1 else 'its'} {named}"
    return f"The plan balances counts, not rates: {said}."
