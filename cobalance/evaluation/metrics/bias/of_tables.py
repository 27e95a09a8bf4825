"""LIC, bias of rankings and markedness, as registered metrics."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from cobalance.evaluation.groups import check_groups
from cobalance.evaluation.metrics.bias.attackers import CaptionAttackOptions
from cobalance.evaluation.metrics.bias.counts import skew_of_shares
from cobalance.evaluation.metrics.bias.inputs import of_run, table_runs
from cobalance.evaluation.metrics.bias.lic import group_words, lic
from cobalance.evaluation.metrics.bias.markedness import person_preference, self_similarity
from cobalance.evaluation.metrics.bias.published import difference_of_attackers
from cobalance.evaluation.metrics.bias.ranked import rank_images
from cobalance.evaluation.metrics.bias.rankings import Absent, bias_at_k, max_skew, ndkl
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, stack
from cobalance.evaluation.metrics.tables import text_column
from cobalance.evaluation.predictions import known_rows
from cobalance.evaluation.shortcuts import NONE
from cobalance.graph.errors import InputError, OptionError, check_known
from cobalance.graph.options import Options


class LicOptions(CaptionAttackOptions):
    """Options of the metric lic.

    Parameters
    ----------
    attribute : str
        The column of the groups that captions tell; the only one by default.
    words : str
        The list of words that name groups, built-in or a TOML file.
    """

    attribute: str = ""
    words: str = "gensynth"


class RankingOptions(Options):
    """Options of bias in rankings.

    Parameters
    ----------
    k : int
        How many images are retrieved for each query.
    parity : {"population", "equal"}
        Fair shares: those of all ranked images, or the same for each group.
    absent : {"skip", "one"}
        Groups of which no image is retrieved are left out, or count as one image.
    """

    k: int = Field(default=25, ge=1)
    parity: Literal["population", "equal"] = "population"
    absent: Absent = "skip"


class BiasOptions(Options):
    """Options of the metric bias_at_k.

    Parameters
    ----------
    k : int
        How many images are retrieved for each query.
    first, second : str
        The groups that are compared, such as ``man`` and ``woman``.
    """

    k: int = Field(default=10, ge=1)
    first: str = ""
    second: str = ""


class SimilarityOptions(Options):
    """Options of the metric self_similarity.

    Parameters
    ----------
    sampled : bool
        Whether images are paired with themselves, too, as in the published code.
    """

    sampled: bool = False


class PreferenceOptions(Options):
    """Options of the metric person_preference.

    Parameters
    ----------
    against : {"own", "all"}
        The prompts that "a person" is compared with: of the image's group, or of all groups.
    """

    against: Literal["own", "all"] = "own"


def _lic(inputs: Inputs, options: LicOptions) -> pd.DataFrame:
    if inputs.captions is None:
        return difference_of_attackers(inputs.need("table"), "lic")
    groups = check_groups(inputs.need("groups"))
    names = [str(name) for name in groups.columns[1:]]
    if not options.attribute and len(names) > 1:
        raise OptionError(
            f"groups have {len(names)} columns: {', '.join(names)}. Name one with attribute."
        )
    name = options.attribute or names[0]
    check_known("attribute", [name], names)
    known = groups[groups[name] != NONE]
    return lic(
        inputs.need("captions"),
        inputs.need("references"),
        dict(zip(known["image"], known[name], strict=True)),
        words=group_words(options.words),
        rng=inputs.generator(),
        options=CaptionAttackOptions(
            **options.model_dump(include={*CaptionAttackOptions.model_fields})
        ),
    ).assign(group=name)


def rankings_of(table: pd.DataFrame) -> list[list[str | None]]:
    """Groups of each query's images, best first.

    Parameters
    ----------
    table : frame
        ``score`` and ``group`` of images, and ``query`` where there are several; a group that is
        empty is none.

    Raises
    ------
    InputError
        A column is missing, or a score is not a number.
    """
    for column in ("score", "group"):
        if column not in table:
            reason = f"has no column {column}; its columns: {', '.join(map(str, table))}"
            raise InputError("table", None, reason, "Give score and group, and query for several.")
    scores = pd.to_numeric(table["score"], errors="coerce").astype(np.float64)
    if scores.isna().any():
        row = int(scores.isna().to_numpy().argmax())
        reason = f"score is {table['score'].iloc[row]!r}, which is not a number"
        raise InputError("table", f"row {row + 1}", reason, "Correct it, or leave the row out.")
    query = table["query"] if "query" in table else pd.Series("", index=table.index)
    ordered = table.assign(score=scores, query=query)
    ordered = ordered.sort_values("score", ascending=False, kind="stable")
    return [
        [None if pd.isna(one) or one in ("", NONE) else str(one) for one in rows["group"]]
        for _, rows in ordered.groupby("query", sort=False)
    ]


def _ranked(function: Callable[..., pd.DataFrame]) -> Callable[[Inputs, Any], pd.DataFrame]:
    def compute(inputs: Inputs, options: RankingOptions) -> pd.DataFrame:
        if inputs.texts is None and "share" in inputs.need("table"):
            name = "ndkl" if function is ndkl else "max_skew"
            runs = table_runs(inputs.need("table"))
            return stack(of_run(skew_of_shares(rows, name), run) for run, rows in runs)
        return _of_rankings(inputs, lambda ranked: function(ranked, **options.model_dump()))

    return compute


def _bias(inputs: Inputs, options: BiasOptions) -> pd.DataFrame:
    if not (options.first and options.second):
        raise OptionError("first and second are empty. Name two groups, such as man and woman.")
    pair = (options.first, options.second)
    if inputs.texts is not None:
        groups = _groups_of_embeddings(inputs)
        check_known("group", pair, sorted({*groups.to_numpy().ravel()} - {NONE}))
    else:
        ranked = {group for query in rankings_of(inputs.need("table")) for group in query if group}
        if ranked - {*pair}:  # a third group: not a ranking in which no image of one is left
            check_known("group", pair, sorted(ranked))
    return _of_rankings(inputs, lambda ranked: bias_at_k(ranked, options.k, groups=pair))


def _of_rankings(inputs: Inputs, score: Callable[[Any], pd.DataFrame]) -> pd.DataFrame:
    """Scores of the rankings of a table, or of all images by texts for each attribute."""
    if inputs.texts is None:
        runs = table_runs(inputs.need("table"))
        return stack(of_run(score(rankings_of(rows)), run) for run, rows in runs)
    texts, images = (
        one.drop(columns="image", errors="ignore").to_numpy(np.float64)
        for one in (inputs.texts, inputs.need("embeddings"))
    )
    frames = []
    for name, groups in _groups_of_embeddings(inputs).items():
        scores = score(rank_images(texts, images, _known(groups)))
        separator = (": " + scores["group"]).where(scores["group"] != "", "")
        frames.append(scores.assign(group=str(name) + separator))
    return stack(frames)


def _groups_of_embeddings(inputs: Inputs) -> pd.DataFrame:
    groups = check_groups(inputs.need("groups"))
    at = known_rows(inputs.ids_of("embeddings"), groups["image"], "embeddings")
    rows: pd.DataFrame = groups.iloc[at, 1:]
    return rows


def _self_similarity(inputs: Inputs, options: SimilarityOptions) -> pd.DataFrame:
    embeddings = inputs.need("embeddings")
    vectors = embeddings.drop(columns="image", errors="ignore").to_numpy(np.float64)
    if inputs.groups is None:
        return self_similarity(vectors, sampled=options.sampled)
    return stack(
        _under(str(name), self_similarity(vectors, _known(column), sampled=options.sampled))
        for name, column in _groups_of_embeddings(inputs).items()
    )


def _known(column: "pd.Series[Any]") -> list[str | None]:
    return [None if value == NONE else str(value) for value in column]


def _under(attribute: str, scores: pd.DataFrame) -> pd.DataFrame:
    return scores.assign(group=attribute + ": " + scores["group"])


def _person_preference(inputs: Inputs, options: PreferenceOptions) -> pd.DataFrame:
    table = inputs.need("table")
    frames = []
    for run, rows in table_runs(table):
        groups = text_column(rows, "group")
        columns = [name for name in rows if name not in ("image", "group", "n")]
        similarities = rows[columns].apply(pd.to_numeric, errors="coerce").reset_index(drop=True)
        frames.append(of_run(person_preference(similarities, groups, **options.model_dump()), run))
    return stack(frames)


RANKED = ("table|texts", "table|embeddings", "table|groups")
"""Scores of images, or embeddings of texts and images, and the images' groups."""

PLUGINS = (
    MetricPlugin(
        "lic",
        "How well groups are told from captions without their words, less how well from those by "
        "people. A table has lic_model and lic_data.",
        extra="evaluate",
        options=LicOptions,
        takes=("captions|table", "references|table", "groups|table"),
        compute=_lic,
    ),
    MetricPlugin(
        "max_skew",
        "MaxSkew@K: the most over-represented group among retrieved images. A table has score and "
        "group, and query; or group, share and parity, and query and k.",
        options=RankingOptions,
        takes=RANKED,
        compute=_ranked(max_skew),
    ),
    MetricPlugin(
        "ndkl",
        "NDKL@K: how far rankings are from fair shares. A table has score and group, and query; or "
        "group, share and parity for each k from 1.",
        options=RankingOptions,
        takes=RANKED,
        compute=_ranked(ndkl),
    ),
    MetricPlugin(
        "bias_at_k",
        "Bias@K: which of two groups is retrieved more. A table has score and group, and query.",
        options=BiasOptions,
        takes=RANKED,
        compute=_bias,
    ),
    MetricPlugin(
        "self_similarity",
        "Mean cosine of the images of each group: how alike they are to a model.",
        options=SimilarityOptions,
        takes=("embeddings",),
        may_take=("groups",),
        compute=_self_similarity,
    ),
    MetricPlugin(
        "person_preference",
        'Share of each group closer to "a person" than to the group. A table has group, and the '
        "cosines: person, and a column for each group.",
        options=PreferenceOptions,
        takes=("table",),
        compute=_person_preference,
    ),
)
