"""`cobalance record`: write the leans of a dataset, with all counts, to a file."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.app.cli.shared import folders, notes, opened_store, progress_bars
from cobalance.base import check_new_file, inflect, replacing
from cobalance.workflows.gate import rules as gate_rules, subjects
from cobalance.workflows.record import card, document, examination, stored


def record(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE_OR_DATASET",
            help="A file with annotations, which needs no database, or a mined dataset of the "
            "store. Default: `data` in the rules.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Write to this file, as Croissant JSON-LD.")
    ] = Path("bias.json"),
    card_file: Annotated[
        Path | None,
        typer.Option("--card", metavar="FILE"),
        "Write the section of a data card, too, in Markdown, with the table for article 10 of the "
        "EU AI Act.",
    ] = None,
    rules_file: Annotated[
        Path | None,
        typer.Option("--rules", metavar="FILE"),
        "The rules, in TOML, whose [read] says how FILE is read. Default: cobalance-gate.toml, or "
        "[tool.cobalance.gate] in pyproject.toml.",
    ] = None,
    overwrite: Annotated[bool, "Replace what is there: the file."] = False,
) -> None:
    """Write a bias record: what was examined, what leans, and how small a lean was not seen.

    It is Croissant 1.1 with the vocabulary of responsible AI and all counts, so that whoever has it
    gets the same numbers: `cobalance ingest bias.json --counts`. Of a file, combinations of up to
    two concepts are counted; of a dataset, those that were mined.
    """
    rules, rules_path = gate_rules.read_rules(rules_file)
    name, path = subjects.locate(subject, rules, rules_path)

    files = [file for file in (output, card_file) if file is not None]
    for file in files:
        check_new_file(file, "bias.json", overwrite=overwrite)

    examined = _examine(path, name, rules)
    contents = [document.write_document(examined)]
    if card_file is not None:
        contents.append(card.card_section(examined).encode())

    for file, content in zip(files, contents, strict=True):
        with replacing(file) as target:
            target.write_bytes(content)

    n_tested = inflect(len(examined.cliques), "combinations")
    notes.print(f"{output}: {len(examined.leans):,} of {n_tested} lean to a class.")


def _examine(path: Path | None, name: str, rules: "gate_rules.Rules") -> "examination.Examination":
    """Examine the file of a path, or else the dataset of a name."""
    if path is not None:
        with progress_bars() as progress:
            return examination.examine_file(path, rules, progress)
    with opened_store() as (store, progress):
        return stored.examine_dataset(store, folders(), name, progress)
