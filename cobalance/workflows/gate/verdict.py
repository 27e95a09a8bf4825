"""Verdict of a gate: broken rules, known findings, and better ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from shlex import quote
from typing import Literal

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, FloatArray, IntArray, OptionError, inflect, text_if
from cobalance.counting import Incidence
from cobalance.statistics import check_classes, growth_p_values, rate_differences
from cobalance.statistics.q_values import q_values
from cobalance.workflows.cells import q_text
from cobalance.workflows.gate.baseline import ABSENT, Baseline, KnownReading, make_baseline
from cobalance.workflows.gate.measures import (
    CLASSES,
    LEANS,
    Leans,
    Reading,
    counts_of,
    measure_leans,
    measure_readings,
)
from cobalance.workflows.gate.rules import Rules
from cobalance.workflows.gate.subjects import Subject

Status = Literal["new", "worse", "known", "better"]
FAILING: tuple[Status, ...] = ("new", "worse")
"""The statuses that break a rule."""
STATUSES: tuple[Status, ...] = (*FAILING, "known", "better")
"""All statuses, the gravest first."""
# A lean that has grown by less than this share of the rule's difference is as it was, however
# many images tell it.
_LEAST_GROWTH = 0.5
# Two numbers further apart than by so many standard errors differ beyond chance (one in 200).
_FAR = 2.6
_OUTCOMES = {True: "passes", False: "breaks a rule"}
_LIMITS = {True: "at most", False: "at least"}


@dataclass(frozen=True)
class Finding:
    """Something that a rule is about.

    Parameters
    ----------
    rule, of : str
        The rule, and what it is about, such as a combination.
    status : str
        ``new`` and ``worse`` break the rule; ``known`` is in the baseline; ``better`` was.
    text : str
        A sentence, without the full stop.
    weight : float
        How far it is beyond the rule, to sort by.
    concepts, class_name : tuple of str, str
        Of a lean: the combination, and the class that it leans to.
    counts : mapping of str to int
        Of a lean: its images of each class.
    """

    rule: str
    of: str
    status: Status
    text: str
    weight: float = 0.0
    concepts: tuple[str, ...] = ()
    class_name: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def fails(self) -> bool:
        """Whether a rule is broken."""
        return self.status in FAILING


@dataclass(frozen=True, eq=False)
class Verdict:
    """The verdict on a dataset.

    Parameters
    ----------
    name, source : str
        The file or dataset, with the split that was judged; and the same as a person named it.
    findings : tuple of Finding
        Those that break a rule first, the worst first.
    rules : tuple of str
        The rules that were checked.
    metrics : mapping of str to float
        Numbers to follow over time.
    against : str
        What it was compared with: a baseline, a split, or nothing.
    make_baseline : callable
        Makes the baseline of this dataset: what would be known of it from now on.
    """

    name: str
    source: str
    findings: tuple[Finding, ...]
    rules: tuple[str, ...]
    metrics: Mapping[str, float]
    against: str
    make_baseline: Callable[[], Baseline]

    @property
    def passed(self) -> bool:
        """Whether no rule is broken."""
        return not any(finding.fails for finding in self.findings)

    def command(self, finding: Finding) -> str:
        """The command that lists the images of a finding; empty where it is about no images."""
        concepts = [f"--images-of {quote(concept)}" for concept in finding.concepts]
        return " ".join(["cobalance gate", quote(self.source), *concepts]) if concepts else ""

    def count(self, status: Status) -> int:
        """The number of findings of a status."""
        return sum(finding.status == status for finding in self.findings)

    @property
    def frame(self) -> pd.DataFrame:
        """A row a finding: ``status``, ``rule``, ``of``, ``finding``."""
        rows = [
            (finding.status, finding.rule, finding.of, finding.text) for finding in self.findings
        ]
        return pd.DataFrame(rows, columns=["status", "rule", "of", "finding"])

    def describe(self) -> str:
        """The verdict in a sentence."""
        counts = {status: self.count(status) for status in STATUSES}
        parts = [f"{n:,} {status}" for status, n in counts.items() if n]
        outcome = _OUTCOMES[self.passed]
        compared = text_if(self.against, f", compared with {self.against}")
        tested = inflect(int(self.metrics["combinations"]), "combinations")
        return (
            f"{self.name} {outcome}{compared}: {', '.join(parts) or 'no finding'}; {tested} tested."
        )


def judge(
    subject: Subject, rules: Rules, baseline: Baseline | None = None, against: str = ""
) -> Verdict:
    """Judge a dataset by rules, beyond the findings of a baseline.

    Raises
    ------
    DataError
        There are no two classes to compare, or the baseline is of other data or by other rules.
    UnknownNameError
        A rule names a concept or column that there is not.
    """
    incidence = subject.incidence()
    shared = 0.0
    if baseline is not None:
        baseline.check(rules, incidence.classes)
        shared = baseline.share_kept(subject, incidence)
    leans = [measure_leans(incidence, rule) for rule in rules.leans]
    readings = measure_readings(subject, incidence, rules)

    findings = _find_all(leans, readings, baseline, shared)
    return _conclude(subject, incidence, leans, readings, findings, against)


def judge_split(subject: Subject, rules: Rules, split: str, reference: str) -> Verdict:
    """Judge a split by rules, beyond the findings of another split of the same data.

    Errors as of `judge`; OptionError if it is the same split, DataError if one lacks a class.
    """
    if split == reference:
        raise OptionError(f"{split!r} is named twice. Give two different splits.")
    watched, other = subject.of_split(split), subject.of_split(reference)
    incidence, of_other = watched.incidence(), other.incidence()
    sizes, other_sizes = (
        dict(zip(part.classes, part.class_sizes().tolist(), strict=True))
        for part in (incidence, of_other)
    )
    check_classes(split, sizes, reference, other_sizes)
    leans = [measure_leans(incidence, rule) for rule in rules.leans]

    # All combinations of the one are counted in the other, so that none is new for lack of a count.
    other_leans = [_measured_alike(part, of_other) for part in leans]
    known = make_baseline(
        other,
        of_other,
        other_leans,
        measure_readings(other, of_other, rules),
        watched=[np.arange(len(part.cliques)) for part in other_leans],
    )
    readings = measure_readings(watched, incidence, rules)
    findings = _find_all(leans, readings, known, 0.0, reference)
    return _conclude(watched, incidence, leans, readings, findings, f"split {reference}")


def _find_all(
    leans: Sequence[Leans],
    readings: Sequence[Reading],
    baseline: Baseline | None,
    shared: float,
    where: str = "the baseline",
) -> list[Finding]:
    """The findings of all rules; of a combination that several test, the gravest."""
    by_combination: dict[str, Finding] = {}
    for part in leans:
        for finding in _judge_leans(part, baseline, shared, where):
            before = by_combination.setdefault(finding.of, finding)
            if STATUSES.index(finding.status) < STATUSES.index(before.status):
                by_combination[finding.of] = finding
    return [*by_combination.values(), *_judge_readings(readings, baseline, where)]


def _measured_alike(part: Leans, incidence: Incidence) -> Leans:
    """The combinations of a rule measured in other images."""
    cliques = counts_of(incidence, part.cliques)
    counted = measure_leans(incidence, part.rule)

    places = {concepts: row for row, concepts in enumerate(counted.cliques.names())}
    rows = np.array([places.get(concepts, -1) for concepts in cliques.names()], dtype=np.int64)
    p_values = np.append(counted.p_values, 1.0)[rows]
    differences, highest, lowest = rate_differences(cliques.counts, cliques.class_sizes)
    return Leans(part.rule, cliques, p_values, differences, np.stack([highest, lowest], axis=1))


def _conclude(
    subject: Subject,
    incidence: Incidence,
    leans: Sequence[Leans],
    readings: Sequence[Reading],
    findings: Sequence[Finding],
    against: str,
) -> Verdict:
    ranked = sorted(findings, key=lambda part: (STATUSES.index(part.status), -part.weight, part.of))
    names = [LEANS] if leans else []

    return Verdict(
        name=subject.name,
        source=subject.source,
        findings=tuple(ranked),
        rules=tuple(dict.fromkeys([*names, *(reading.rule for reading in readings)])),
        metrics=_metrics(incidence, leans, readings, findings),
        against=against,
        make_baseline=partial(make_baseline, subject, incidence, leans, readings),
    )


def _metrics(
    incidence: Incidence,
    leans: Sequence[Leans],
    readings: Sequence[Reading],
    findings: Sequence[Finding],
) -> dict[str, float]:
    """Flat numbers: images, combinations, leans, and the single numbers of the rules."""
    metrics: dict[str, float] = {"images": float(len(incidence.labels))}
    metrics["combinations"] = float(sum(len(part.cliques) for part in leans))
    metrics["leaning"] = float(sum(part.breaks.sum() for part in leans))

    largest = [part.differences[part.breaks].max(initial=0.0) for part in leans]
    metrics["largest_difference"] = float(max(largest, default=0.0))

    for status in STATUSES:
        metrics[status] = float(sum(finding.status == status for finding in findings))
    for reading in readings:
        if reading.rule != CLASSES:
            name = f"{reading.rule} {reading.of}".replace(" ", "_")
            metrics[name] = reading.value
    return metrics


def _judge_leans(
    part: Leans, baseline: Baseline | None, shared: float, where: str
) -> list[Finding]:
    """The findings of one rule: combinations that break it, and those that did in the baseline."""
    names, breaks = part.cliques.names(), part.breaks
    if baseline is None:
        breaking = np.flatnonzero(breaks).tolist()
        return [_lean_finding(part, row, names[row], "new", "") for row in breaking]

    places = baseline.places()
    place_of = np.array([places.get(concepts, ABSENT) for concepts in names], dtype=np.int64)
    is_listed = place_of != ABSENT
    did_break = is_listed & baseline.breaking()[place_of]
    rows = np.flatnonzero(is_listed | breaks)
    before, has_grown = _growth(part, rows, baseline, place_of[rows], shared)

    findings = []
    for row, was, grown in zip(rows.tolist(), before.tolist(), has_grown.tolist(), strict=True):
        status: Status = "known"
        if not breaks[row]:
            status = "better"
        elif grown:
            status = "worse" if did_break[row] else "new"
        if breaks[row] or did_break[row]:
            text = text_if(is_listed[row] and breaks[row], f"; {was:.1%} in {where}")
            findings.append(_lean_finding(part, row, names[row], status, text))
    return findings


def _growth(
    part: Leans, rows: IntArray, baseline: Baseline, places: IntArray, shared: float
) -> tuple[FloatArray, BoolArray]:
    """Rate differences in the baseline, and whether they have grown beyond chance.

    A combination that the baseline does not list may have leaned then by as much as leaves it out.
    """
    now, classes = part.cliques.take(rows), part.classes[rows]
    sizes = np.array([baseline.classes[name] for name in now.classes])
    rates = now.counts / np.maximum(now.class_sizes, 1)
    mean = now.counts.sum(axis=1, keepdims=True) / now.class_sizes.sum()
    missed = mean + (rates - mean) * part.largest_missed()[rows, None]
    listed = baseline.counts(now.classes)[places]
    counts = np.where((places == ABSENT)[:, None], missed * sizes, listed)
    then = replace(now, counts=counts, class_sizes=sizes, clustering=None)

    rates_then = counts / np.maximum(sizes, 1)
    before = np.take_along_axis(rates_then, classes, axis=1) @ np.array([1.0, -1.0])
    q_of_growth = q_values(growth_p_values(then, now, classes, shared))
    is_large = part.differences[rows] - before >= _LEAST_GROWTH * part.rule.min_difference
    return before, is_large & (q_of_growth <= part.rule.max_q)


def _lean_finding(
    part: Leans, row: int, concepts: tuple[str, ...], status: Status, was: str
) -> Finding:
    cliques, (highest, lowest) = part.cliques, part.classes[row]
    rates = cliques.counts[row] / np.maximum(cliques.class_sizes, 1)
    high, low = cliques.classes[highest], cliques.classes[lowest]
    name, difference = " + ".join(concepts), float(part.differences[row])
    text = (
        f"{name} is in {rates[highest]:.1%} of {high} and {rates[lowest]:.1%} of {low}: a "
        f"difference of {difference:.1%} (q {q_text(float(part.q_values[row]))}){was}"
    )
    return Finding(
        rule=LEANS,
        of=name,
        status=status,
        text=text,
        weight=difference / part.rule.min_difference,
        concepts=concepts,
        class_name=high,
        counts=dict(zip(cliques.classes, cliques.counts[row].tolist(), strict=True)),
    )


def _judge_readings(
    readings: Sequence[Reading], baseline: Baseline | None, where: str
) -> list[Finding]:
    """The findings of rules about one number each."""
    before_by_name: dict[tuple[str, str], KnownReading] = {}
    if baseline is not None:
        before_by_name = {(part.rule, part.of): part for part in baseline.readings}

    findings = []
    for reading in readings:
        before = before_by_name.get((reading.rule, reading.of))
        text = f"{reading.text} ({_LIMITS[reading.at_most]} {reading.limit:g})"
        if before is not None:
            text += f"; {before.value:.3g} in {where}"

        status: Status = "new"
        if not reading.breaks:
            if before is None:
                continue
            status = "better"
        elif before is not None:
            status = "worse" if _is_worse(reading, before) else "known"
        excess = abs(reading.value - reading.limit) / max(abs(reading.limit), 1e-9)
        findings.append(Finding(reading.rule, reading.of, status, text, min(excess, 100.0)))
    return findings


def _is_worse(reading: Reading, before: KnownReading) -> bool:
    """Whether a number is further beyond its limit than it was, by more than chance explains."""
    change = reading.value - before.value
    if not reading.at_most:
        change = -change
    return change > _FAR * np.hypot(reading.error, before.error)
