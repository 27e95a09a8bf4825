"""A filter whose scores are known beforehand, with ties and gaps; it stands in for a real one."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isnan, nan
from typing import Any
from zlib import crc32

from cobalance.generation.filters.blank import BlankOptions
from cobalance.generation.filters.filter import FilterPlugin, Judgement

PLUGIN = FilterPlugin("blank", "Scores.", "worker", BlankOptions)

RANK_BY = {"blank": 1.0, "blank second": 0.3}


def known(query: int, index: int) -> tuple[float, float | None, bool]:
    """The score, a second score or None, and the verdict of a candidate."""
    draw = crc32(f"{query}/{index}".encode())
    second = [None, nan, 0.5, 0.25, -3.0][draw // 7 % 5]
    return float(draw % 4), second, draw // 64 % 5 > 0


class ScoredFilter:
    def judge(self, requests: Sequence[Any], _made: Sequence[Any]) -> list[Judgement]:
        judgements = []
        for request in requests:
            query, index = map(int, request.id.split("/")[-2:])
            score, second, accepted = known(query, index)
            details = {} if second is None else {"second": second}
            reason = "" if accepted else "It is so."
            judgements.append(Judgement(score, reason, details))
        return judgements

    def describe(self) -> Mapping[str, Any]:
        return {"filter": "scored"}


def open_filter(_options: Any) -> ScoredFilter:
    return ScoredFilter()


def places(query: int, indices: Sequence[int]) -> list[int]:
    """The accepted ones of some candidates of a query, the best first, by brute force."""
    eligible = sorted(index for index in indices if known(query, index)[2])
    columns = [
        [known(query, index)[0] for index in eligible],
        [nan if (second := known(query, index)[1]) is None else second for index in eligible],
    ]
    sums = {}
    for at, index in enumerate(eligible):
        sums[index] = Fraction(0)
        for column, weight in zip(columns, (Fraction(1), Fraction(3, 10)), strict=True):
            before = sum(_beats(other, column[at]) for other in column)
            behind = sum(_beats(column[at], other) for other in column)
            sums[index] += weight * Fraction(before + 1 + len(column) - behind, 2)
    return sorted(eligible, key=lambda index: (sums[index], index))


def _beats(a: float, b: float) -> bool:
    return not isnan(a) and (isnan(b) or a > b)
