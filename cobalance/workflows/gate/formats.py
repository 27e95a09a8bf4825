"""A verdict as text, JSON, JUnit, SARIF, Markdown and flat metrics."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

from cobalance.base import check_known, inflect, shorten_list
from cobalance.workflows.gate.verdict import Finding, Verdict

_WORST = 5
# With its head and the counts, a comment stays below 60 lines.
_IN_COMMENT = 40
_LEVELS = {True: "error", False: "note"}
_MARKS = {True: ":white_check_mark:", False: ":x:"}
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def write_verdict(verdict: Verdict, name: str) -> str:
    """A verdict in the format of a name in `FORMATS`, as text that ends with a line break.

    Raises
    ------
    UnknownNameError
        There is no such format.
    """
    check_known("format", [name], FORMATS)
    return FORMATS[name](verdict)


def _as_text(verdict: Verdict) -> str:
    """Sentences: the verdict, the worst findings with their commands, and how many more."""
    lines = [verdict.describe()]
    failing = [finding for finding in verdict.findings if finding.fails]
    for finding in failing[:_WORST]:
        lines.append(f"{finding.status:<6} {finding.text}.")
        if command := verdict.command(finding):
            lines.append(f"       Images: {command}")

    if len(failing) > _WORST:
        lines.append(f"{len(failing) - _WORST:,} more: see --format json.")

    better = [finding.of for finding in verdict.findings if finding.status == "better"]
    if better:
        lines.append(f"Got better: {shorten_list(better, _WORST)}.")
    return "\n".join(lines) + "\n"


def _as_json(verdict: Verdict) -> str:
    content = {
        "name": verdict.name,
        "passed": verdict.passed,
        "compared_with": verdict.against,
        "rules": verdict.rules,
        "metrics": verdict.metrics,
        "findings": [_finding_values(verdict, finding) for finding in verdict.findings],
    }
    return _dump(content)


def _finding_values(verdict: Verdict, finding: Finding) -> dict[str, Any]:
    values: dict[str, Any] = {
        "status": finding.status,
        "rule": finding.rule,
        "of": finding.of,
        "text": finding.text,
    }
    if finding.concepts:
        values |= {
            "concepts": finding.concepts,
            "class": finding.class_name,
            "images": dict(finding.counts),
            "command": verdict.command(finding),
        }
    return values


def _as_junit(verdict: Verdict) -> str:
    """A test case for each finding that was or is beyond a rule, and for each rule that holds."""
    suite = ElementTree.Element("testsuite", name=f"cobalance gate {verdict.name}")
    n_failures = 0
    for finding in verdict.findings:
        case = ElementTree.SubElement(
            suite, "testcase", classname=finding.rule, name=f"{finding.of} ({finding.status})"
        )
        if finding.fails:
            n_failures += 1
            failure = ElementTree.SubElement(
                case, "failure", type=finding.status, message=finding.text
            )
            failure.text = verdict.command(finding)

    broken = {finding.rule for finding in verdict.findings if finding.fails}
    holding = [rule for rule in verdict.rules if rule not in broken]
    for rule in holding:
        ElementTree.SubElement(suite, "testcase", classname=rule, name="holds")
    suite.set("tests", str(len(verdict.findings) + len(holding)))
    suite.set("failures", str(n_failures))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _as_sarif(verdict: Verdict) -> str:
    """Results: findings that fail are errors, known ones are notes."""
    place = {"physicalLocation": {"artifactLocation": {"uri": verdict.name.replace("\\", "/")}}}
    results = [
        {
            "ruleId": finding.rule,
            "level": _LEVELS[finding.fails],
            "message": {"text": f"{finding.text}. {verdict.command(finding)}".strip()},
            "locations": [place],
            "partialFingerprints": {"finding/v1": f"{finding.rule}: {finding.of}"},
        }
        for finding in verdict.findings
        if finding.status != "better"
    ]
    driver = {
        "name": "cobalance gate",
        "rules": [{"id": rule} for rule in verdict.rules],
    }
    run = {"tool": {"driver": driver}, "results": results}
    return _dump({"$schema": _SARIF, "version": "2.1.0", "runs": [run]})


def _as_markdown(verdict: Verdict) -> str:
    """A comment for a pull request."""
    lines = [f"### {_MARKS[verdict.passed]} cobalance gate", "", _escape(verdict.describe())]
    failing = [finding for finding in verdict.findings if finding.fails]
    if failing:
        lines += ["", "| | rule | finding |", "| --- | --- | --- |"]
        lines += [
            f"| {finding.status} | {finding.rule} | {_escape(finding.text)} |"
            for finding in failing[:_IN_COMMENT]
        ]
        if len(failing) > _IN_COMMENT:
            lines += ["", f"{len(failing) - _IN_COMMENT:,} more are not listed."]
        if command := verdict.command(failing[0]):
            lines += ["", f"Images of the first: `{command}`"]

    counts = [f"{verdict.count(status):,} {status}" for status in ("known", "better")]
    images = inflect(int(verdict.metrics["images"]), "images")
    lines += ["", f"{images}; {', '.join(counts)}."]
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    """Text that stays in its cell of a Markdown table, and is no Markdown."""
    for character in "\\`*_<>[]|":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _as_metrics(verdict: Verdict) -> str:
    """Flat numbers, as ``dvc metrics diff``, MLflow and Weights & Biases take them."""
    return _dump(dict(verdict.metrics) | {"passed": float(verdict.passed)})


def _dump(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


FORMATS: Mapping[str, Callable[[Verdict], str]] = MappingProxyType(
    {
        "text": _as_text,
        "json": _as_json,
        "junit": _as_junit,
        "sarif": _as_sarif,
        "markdown": _as_markdown,
        "metrics": _as_metrics,
    }
)
"""By the name of the format."""
