"""`cobalance plan`: plan the missing images."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from cobalance.app.cli.shared import (
    Assignments,
    Count,
    DatasetName,
    Format,
    Name,
    TableOutput,
    assigned,
    full_id,
    in_shell,
    notes,
    opened_store,
    out,
    read_clique,
    write_text,
)
from cobalance.base import pandas as pd, render
from cobalance.base.safe_text import safe_text
from cobalance.generation.planning import plan as plans, plan_file as plan_files, planners
from cobalance.graph import JOB
from cobalance.workflows.diagnose import mine as mining_flow, tables as diagnose_tables
from cobalance.workflows.panel import verdicts
from cobalance.workflows.plan import planners as planning, summaries as plan_summaries

MinSize = Annotated[Count, "Smallest clique to balance. Default: 2, by whole-images 1."]
MaxSize = Annotated[Count, "Largest clique to balance. Default: as mined."]
MaxPerQuery = Annotated[Count, "Most images of one query."]
Budget = Annotated[
    Count,
    "Most images in all, spent first on what has evidence. Default: by `whole-images` a tenth of "
    "the dataset's, or as many as halve the largest rate difference; else as many as it takes.",
]


def plan(
    to: TableOutput,
    dataset: DatasetName,
    planner: Annotated[
        str | None,
        "`whole-images`: concept sets of real images, the default where they are at hand. "
        "`conbias`: Algorithm 1. `minimal`: fewest images within a tolerance. `published`: as "
        "the authors ran Algorithm 1.",
    ] = None,
    setting: Annotated[Assignments, "An option of the planner's own. Repeat it."] = None,
    min_size: MinSize = None,
    max_size: MaxSize = None,
    max_per_query: MaxPerQuery = None,
    budget: Budget = None,
    clique: Annotated[
        list[str] | None,
        "Only this clique, such as 'cow + road', or in JSON: plan for it. Repeat it.",
    ] = None,
    continued: Annotated[
        list[str] | None,
        typer.Option("--continue", metavar="JOB", callback=full_id(JOB)),
        "Plan again from what this job has accepted, beside the real images; may be given more "
        "than once. Without --budget: what the first was asked for and all have not got.",
    ] = None,
    supported_only: Annotated[
        bool, "Leave out imbalances of models' labels that no audit supports."
    ] = False,
    name: Annotated[Name, "Name of the plan in the graph. Default: the planner's."] = None,
) -> None:
    """Plan the missing images, and measure their effect.

    The plan is kept in the graph under its name. As JSON it is a file that workers read.

    `plan-edits` plans to edit images instead; `resample` lists the real ones for a trainer.
    """
    options = plans.PlanOptions(min_size, max_size, max_per_query, budget)
    planner_options = assigned(setting)
    if planner is not None:
        planners.PLANNERS.check(planner, planner_options)

    with opened_store() as (store, progress):
        planned = planning.plan_dataset(
            store,
            dataset,
            planner,
            options,
            name,
            progress,
            planner_options,
            chosen=list(map(read_clique, clique or ())),
            continued=continued or (),
            supported_only=supported_only,
        )
        left_out = mining_flow.warn_left_out(store, dataset)
        waiting = mining_flow.warn_waiting_tags(store, dataset)

    if to.is_shown:
        notes.print(diagnose_tables.describe_mining(planned.state.mining_options()))
    write_plan(to, planned.plan, plan_summaries.plan_table(planned))
    for note in filter(None, [*plan_summaries.plan_notes(planned), left_out, waiting]):
        notes.print(safe_text(render(note, in_shell)))
    if warning := verdicts.warn_unsupported(planned.plan.queries, planned.audited):
        notes.print(f"{warning} Leave them out with --supported-only.")


def write_plan(
    to: TableOutput,
    plan: "plans.Plan",
    table: "pd.DataFrame",
    selection: Mapping[str, Any] | None = None,
) -> None:
    """Write a plan: as the file that workers read, as a table for people, or its queries.

    `selection`, of a plan that edits images, goes into the file.
    """
    if to.format is Format.JSON:
        write_text(plan_files.plan_to_json(plan, selection).decode(), to.file)
    elif to.is_shown:
        to.write(table)
        out.print(plan_summaries.describe_plan(plan))
    else:
        to.write(plan.frame())
