"""Leakage and amplification of prediction tables, as registered metrics."""

from collections.abc import Iterator

import pandas as pd
from pydantic import Field

from cobalance.evaluation.metrics.bias.amplification import (
    Ties,
    directional_amplification,
    mals_amplification,
)
from cobalance.evaluation.metrics.bias.attackers import AttackOptions
from cobalance.evaluation.metrics.bias.counts import directional_of_counts
from cobalance.evaluation.metrics.bias.inputs import (
    AttributeOptions,
    attribute_runs,
    of_run,
    table_runs,
)
from cobalance.evaluation.metrics.bias.label_leakage import label_leakage
from cobalance.evaluation.metrics.bias.leakage import LeakageScore, leakage
from cobalance.evaluation.metrics.bias.multi_attribute import Against, multi_attribute_amplification
from cobalance.evaluation.metrics.bias.published import (
    attacked,
    before_and_after,
    difference_of_attackers,
)
from cobalance.evaluation.metrics.bias.tables import count_table
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, stack
from cobalance.evaluation.metrics.tables import number_column
from cobalance.evaluation.predictions import PROBABILITY
from cobalance.graph.errors import InputError


class MalsOptions(AttributeOptions):
    """Options of the metric mals_amplification.

    Parameters
    ----------
    margin : float
        The largest change of a group's share that violates nothing.
    """

    margin: float = Field(default=0.05, ge=0, le=1)


class DirectionalOptions(AttributeOptions):
    """Options of the metric directional_amplification.

    Parameters
    ----------
    ties : {"zero", "negative"}
        What a pair that is independent in training counts: nothing, or -Δ.
    """

    ties: Ties = "zero"


class MultiAttributeOptions(AttributeOptions):
    """Options of the metric multi_attribute_amplification.

    Parameters
    ----------
    min_size : int
        The least labels of a set.
    min_images : int
        The least images of a set, in training and in the test.
    against : {"test", "train"}
        Whose ground truth predictions are compared with.
    """

    min_size: int = Field(default=1, ge=1)
    min_images: int = Field(default=1, ge=1)
    against: Against = "test"


class LeakageOptions(AttributeOptions, AttackOptions):
    """Options of the metric leakage.

    Parameters
    ----------
    score : {"confidence", "accuracy", "folded"}
        What an attacker's guess counts; see `cobalance.evaluation.metrics.bias.leakage`.
    equal_f1 : bool
        Whether labels are first made as wrong as the model.
    """

    score: LeakageScore = "confidence"
    equal_f1: bool = False


def _mals(inputs: Inputs, options: MalsOptions) -> pd.DataFrame:
    if inputs.table is not None:
        return stack(
            of_run(mals_amplification(*before_and_after(rows), margin=options.margin), run)
            for run, rows in table_runs(inputs.table)
        )
    return stack(_mals_of_predictions(inputs, options))


def _mals_of_predictions(inputs: Inputs, options: MalsOptions) -> Iterator[pd.DataFrame]:
    for run in attribute_runs(inputs, options):
        labels, groups = run.training_labels, run.training_groups
        given = (run.labels, run.groups) if groups is None else (labels, groups)
        guessed = run.groups if run.predicted_groups is None else run.predicted_groups
        before, after = count_table(*given), count_table(run.predicted, guessed)
        objects = before.index.union(after.index)
        columns = before.columns.union(after.columns)
        both = (
            one.reindex(index=objects, columns=columns, fill_value=0) for one in (before, after)
        )
        yield run.named(mals_amplification(*both, margin=options.margin))


def _directional(inputs: Inputs, options: DirectionalOptions) -> pd.DataFrame:
    if inputs.table is not None:
        return stack(
            of_run(directional_of_counts(rows, options.ties), run)
            for run, rows in table_runs(inputs.table)
        )
    return stack(
        run.named(
            directional_amplification(
                run.labels,
                run.groups,
                predicted_labels=run.predicted,
                predicted_attributes=run.predicted_groups,
                training_labels=run.training_labels,
                training_attributes=run.training_groups,
                ties=options.ties,
            )
        )
        for run in attribute_runs(inputs, options)
    )


def _multi_attribute(inputs: Inputs, options: MultiAttributeOptions) -> pd.DataFrame:
    chosen = options.model_dump(include={"min_size", "min_images", "against"})
    return stack(
        run.named(
            multi_attribute_amplification(
                run.labels,
                run.groups,
                predicted_labels=run.predicted,
                predicted_groups=run.predicted_groups,
                training_labels=run.training_labels,
                training_groups=run.training_groups,
                **chosen,
            )
        )
        for run in attribute_runs(inputs, options)
    )


def _leakage(inputs: Inputs, options: LeakageOptions) -> pd.DataFrame:
    if inputs.table is not None and {*attacked("leakage")} & {*inputs.table}:
        return difference_of_attackers(inputs.table, "leakage")
    if inputs.table is not None:
        return stack(
            of_run(_of_attackers(rows, options), run) for run, rows in table_runs(inputs.table)
        )
    attackers = AttackOptions(**options.model_dump(include={*AttackOptions.model_fields}))
    return stack(
        run.named(
            label_leakage(
                run.predicted,
                run.labels,
                run.groups.tolist(),
                rng=inputs.generator(),
                options=attackers,
                equal_f1=options.equal_f1,
                score=options.score,
            )
        )
        for run in attribute_runs(inputs, options)
    )


def _of_attackers(table: pd.DataFrame, options: LeakageOptions) -> pd.DataFrame:
    measured = [str(name) for name in table if str(name).startswith(PROBABILITY) or name == "n"]
    if "group" not in table or {*measured} <= {"n"}:
        lacks = "probabilities p_<group>" if "group" in table else "column group"
        reason = f"has no {lacks}; its columns: {', '.join(map(str, table))}"
        either = " and ".join(attacked("leakage"))
        remedy = f"Add the true group of each row and its p_<group>, or {either}."
        raise InputError("table", None, reason, remedy)
    table = table.assign(**{name: number_column(table, name) for name in measured})
    if "attacker" not in table:
        return leakage(table, score=options.score)
    sides = {str(name): rows for name, rows in table.groupby("attacker")}
    if {*sides} - {"model", "data"} or "model" not in sides:
        reason = f"attacker is {', '.join(sides)}"
        raise InputError("table", None, reason, "Give model for predictions, and data for labels.")
    return leakage(sides["model"], data=sides.get("data"), score=options.score)


PLUGINS = (
    MetricPlugin(
        "leakage",
        "How well groups are told from predicted labels, less how well from true ones. A table has "
        "an attacker's group and p_<group>; attacker (model or data) and n where it has more; or "
        "leakage_model and leakage_data.",
        extra="evaluate",
        options=LeakageOptions,
        takes=("predictions|table",),
        may_take=("groups",),
        compute=_leakage,
    ),
    MetricPlugin(
        "mals_amplification",
        "How much further predictions lean to each object's majority group than the data did. A "
        "table has object, group, before and after, as counts or shares.",
        options=MalsOptions,
        takes=("predictions|table",),
        may_take=("groups", "training"),
        compute=_mals,
    ),
    MetricPlugin(
        "directional_amplification",
        "Bias amplification from groups to labels, and back where groups are predicted. A table "
        "has counts: attribute, task, test, predicted or predicted_attribute, and training.",
        options=DirectionalOptions,
        takes=("predictions|table",),
        may_take=("groups", "training"),
        compute=_directional,
    ),
    MetricPlugin(
        "multi_attribute_amplification",
        "Bias amplification over sets of labels that occur together.",
        options=MultiAttributeOptions,
        takes=("predictions",),
        may_take=("groups", "training"),
        compute=_multi_attribute,
    ),
)
