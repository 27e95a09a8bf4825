"""`cobalance annotate audit`: people check a sample of a run's labels, blind to them."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.annotation import PER_STRATUM
from cobalance.app.cli.shared import (
    Format,
    PeopleOption,
    RunId,
    SeedOption,
    TableOutput,
    find_panel,
    notes,
    opened_store,
    out,
    output_folder,
    panel_url,
    read_clique,
    split_people,
)
from cobalance.base import OptionError, clean_name, inflect, pandas as pd
from cobalance.graph.panels import audits
from cobalance.ingest import reader
from cobalance.workflows.panel import answers, audit as auditing, verdicts


def audit(
    to: TableOutput,
    run: RunId,
    people: PeopleOption = None,
    per_stratum: Annotated[
        int,
        typer.Option(min=1),
        "Images of each concept or clique, class and verdict; all where fewer.",
    ] = PER_STRATUM,
    overlap: Annotated[
        int | None, "How many people judge each: label. Default: all of them."
    ] = None,
    seed: SeedOption = 0,
    concept: Annotated[
        list[str] | None,
        "Only this concept: check its labels. Repeat it. Default: all, or none with --clique.",
    ] = None,
    clique: Annotated[
        list[str] | None,
        "Only this clique, such as 'cow + road', or in JSON: check whether an image "
        "shows all of its concepts. Repeat it.",
    ] = None,
    which: Annotated[
        str | None,
        typer.Option("--audit", metavar="ID", help="An earlier audit. Default: the newest."),
    ] = None,
    sheet: Annotated[
        bool,
        "Write what is asked, to fill in elsewhere: every label, with the answers so "
        "far: shows, does not or unknown.",
    ] = False,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE"),
        "Read this file: answers, as CSV with the columns person, image, concept, answer.",
    ] = None,
    rates: Annotated[bool, "Show how many labels are right, and the corrected counts."] = False,
    results: Annotated[bool, "Show the results: imbalances before and after correction."] = False,
) -> None:
    """Have people check a run's labels, blind; correct counts and imbalances by what they find.

    With --people a sample of each concept (or clique), class and verdict is drawn, and the address
    of its page printed. People see an image and what it may show, neither the class nor what the
    run says. --results tells which imbalances are left once the labels' errors in each class are
    taken off.
    """
    if sum([people is not None, sheet, from_ is not None, rates, results]) > 1:
        raise OptionError(
            "--people, --sheet, --from, --rates and --results are done one at a time. Leave "
            "all but one out."
        )
    with opened_store() as (store, _):
        if people is not None:
            sample = auditing.AuditSample(
                people=split_people(people),
                n=per_stratum,
                overlap=overlap,
                seed=seed,
                concepts=tuple(map(clean_name, concept or ())),
                cliques=tuple(map(read_clique, clique or ())),
            )
            _print_drawn(auditing.draw_audit(store, output_folder(), run, sample), run)
            return

        panel = find_panel(store, audits.Audit, run, which)
        if from_ is not None:
            taken = answers.take_answers(store, panel, _read_answers(from_))
            notes.print(f"{inflect(taken, 'answers')} taken.")
        if sheet:
            frame = answers.answer_sheet(store, panel)
        elif rates:
            frame = verdicts.audit_rates(store, panel)
        elif results:
            frame = verdicts.audit_imbalances(store, panel)
        else:
            frame = answers.panel_progress(store, panel)

    if sheet and to.format is Format.CSV:
        from cobalance.ingest import guard_formulas

        frame = guard_formulas(frame)
    if to.is_shown and rates:
        frame = _rates_table(frame)
    elif to.is_shown and results:
        frame = _results_table(frame)
    to.write(frame)
    if not (sheet or from_ is not None or rates or results):
        notes.print(panel_url(panel))


def _print_drawn(panel: "audits.Audit", run: str) -> None:
    """Print the address of a new audit's page, and how to go on."""
    out.print(panel_url(panel), soft_wrap=True)
    command = f"cobalance annotate audit {run}"
    notes.print(
        f"{inflect(len(panel.labels), 'labels')} for {inflect(len(panel.people), 'people')}, "
        f"at this address of `cobalance app`, or as a table: {command} --sheet --format "
        f"csv. Results: {command} --results"
    )


def _read_answers(file: Path) -> "pd.DataFrame":
    """The rows of a filled-in sheet, by their lines."""
    from cobalance.ingest import read_sheet

    columns = ("person", "image", "concept", "answer")
    rows = read_sheet(
        reader.read_text(file), str(file), columns, "Fill in the table that --sheet has written."
    )
    cells = [[row[name] for name in columns] for _, row in rows]
    return pd.DataFrame(cells, [place for place, _ in rows], columns, dtype=object)


def _rates_table(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The columns of rates that fit a terminal."""
    return pd.DataFrame(
        {
            "concept": frame["concept"],
            "class": frame["class_name"],
            "labelled": frame["labelled"],
            "not labelled": frame["unlabelled"],
            "precision [95%]": _intervals(100 * _with_limits(frame, "precision"), "{:.1f}"),
            "missed [95%]": _intervals(100 * _with_limits(frame, "false_omission"), "{:.1f}"),
            "corrected [95%]": _intervals(frame[["corrected", "low", "high"]], "{:,.0f}"),
        }
    )


def _results_table(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The columns of imbalances that fit a terminal."""
    return pd.DataFrame(
        {
            "concept": frame["concept"],
            "most": frame["over_represented"],
            "too few": frame["under_represented"],
            "gap": frame["gap"].astype("int64"),
            "corrected [95%]": _intervals(_with_limits(frame, "corrected_gap"), "{:,.0f}"),
            "by rate": list(map("{} vs {}".format, frame["highest_rate"], frame["lowest_rate"])),
            "log odds ratio": frame["log_odds_ratio"].map("{:+.2f}".format),
            "corrected log odds ratio": _intervals(
                _with_limits(frame, "corrected_log_odds_ratio"), "{:+.2f}"
            ),
            "audit": frame["verdict"],
        }
    )


def _with_limits(frame: "pd.DataFrame", name: str) -> "pd.DataFrame":
    return frame[[name, f"{name}_low", f"{name}_high"]]


def _intervals(rows: "pd.DataFrame", number: str) -> list[str]:
    """A value and its limits as text; a dash where nothing is known."""
    texts = []
    for row in rows.itertuples(index=False):
        if pd.isna(row[1]):
            texts.append("-")
        else:
            texts.append("{} [{}, {}]".format(*map(number.format, row)))
    return texts
