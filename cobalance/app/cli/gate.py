"""`cobalance gate`: fail when a dataset leans more than its rules and its baseline allow."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from cobalance.app.cli.shared import (
    LimitOption,
    folders,
    notes,
    opened_store,
    out,
    progress_bars,
    tables,
)
from cobalance.base import OptionError, inflect, replacing
from cobalance.workflows.gate import (
    baseline as baselines,
    formats,
    rules as gate_rules,
    stored,
    subjects,
    verdict as verdicts,
)

FAILED = 3
"""The exit code where a rule is broken."""

GateFormat = Literal["text", "json", "junit", "sarif", "markdown", "metrics"]


def gate(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE_OR_DATASET",
            help="A file with annotations, which needs no database, or a dataset of the store. "
            "Default: `data` in the rules.",
            show_default=False,
        ),
    ] = None,
    rules_file: Annotated[
        Path | None,
        typer.Option("--rules", metavar="FILE"),
        "The rules, in TOML. Default: cobalance-gate.toml, or [tool.cobalance.gate] in "
        "pyproject.toml.",
    ] = None,
    baseline_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE"),
        "What is known and passes. Default: `baseline` in the rules.",
    ] = None,
    write_baseline: Annotated[
        bool, "Write the baseline: all that breaks a rule now is known from then on."
    ] = False,
    watch: Annotated[
        str | None,
        typer.Option(metavar="SPLIT,SPLIT"),
        "Judge the first split by what the second shows, in place of a baseline.",
    ] = None,
    images_of: Annotated[
        list[str] | None,
        typer.Option(metavar="CONCEPT"),
        "List the images that show this concept, and judge nothing; repeat it.",
    ] = None,
    verdict_format: Annotated[
        GateFormat, typer.Option("--as", help="The format: for people, machines or a comment.")
    ] = "text",
    report: Annotated[
        list[str] | None,
        typer.Option("--also", metavar="FORMAT=FILE"),
        "Write the verdict in this format to a file, too; repeat it.",
    ] = None,
    limit: LimitOption = 20,
) -> None:
    """Fail when a dataset leans more than its rules and its baseline allow.

    The exit code is 0 where all rules hold, 3 where one is broken, 2 for a wrong option and 1 for
    what cannot be read. docs/gate.md lists the rules.
    """
    rules, found_file = gate_rules.read_rules(rules_file)
    reports = _reports(report or ())
    name, path = subjects.locate(subject, rules, found_file)

    baseline_path = baseline_file
    if baseline_path is None and found_file is not None and rules.baseline is not None:
        baseline_path = found_file.parent / rules.baseline
    if write_baseline and baseline_path is None:
        raise OptionError(
            "--write-baseline needs --baseline-file FILE, or `baseline` in the rules."
        )

    first, comma, second = (watch or ",").partition(",")
    if not comma:
        raise OptionError("Give --watch two splits, as in train,test.")

    judged = _read(path, name, rules)
    if images_of:
        images = judged.images_of(images_of)
        tables.TableOutput().write(images.head(limit))
        notes.print(f"{inflect(len(images), 'images')}.")
        return

    baseline = None
    if baseline_path is not None and not write_baseline and watch is None:
        baseline = baselines.read_baseline(baseline_path)
    if watch is None:
        against = "" if baseline is None else f"baseline {baseline_path}"
        verdict = verdicts.judge(judged, rules, baseline, against)
    else:
        verdict = verdicts.judge_split(judged, rules, first, second)

    for format_name, file in reports.items():
        with replacing(file) as target:
            target.write_text(formats.write_verdict(verdict, format_name), "utf-8")
    if write_baseline and baseline_path is not None:
        known_now = verdict.make_baseline()
        baselines.write_baseline(baseline_path, known_now)
        n_known = sum(lean.breaks for lean in known_now.leans) + len(known_now.readings)
        notes.print(f"{baseline_path}: {inflect(n_known, 'findings')} are known from now on.")
        return

    print(formats.write_verdict(verdict, verdict_format), end="", file=out.file)
    if not verdict.passed:
        raise typer.Exit(FAILED)


def _read(path: Path | None, name: str, rules: "gate_rules.Rules") -> "subjects.Subject":
    """The file of a path, or else the dataset of a name."""
    if path is not None:
        with progress_bars() as progress:
            return subjects.from_file(path, rules, progress)
    with opened_store() as (store, progress):
        return stored.from_store(store, folders(), name, rules, progress)


def _reports(texts: "list[str] | tuple[str, ...]") -> dict[str, Path]:
    """Files by format, from FORMAT=FILE."""
    reports: dict[str, Path] = {}
    for text in texts:
        name, separator, file = text.partition("=")
        if not separator or not file or name not in formats.FORMATS:
            names = ", ".join(formats.FORMATS)
            raise OptionError(f"--also {text!r} is not FORMAT=FILE, with one of {names}.")

        reports[name] = Path(file)
    return reports
