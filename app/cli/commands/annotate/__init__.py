"""`cobalance annotate`: attributes that models propose and label, reviewed and audited."""

import typer

from app.cli.commands.annotate.compare import compare
from app.cli.commands.annotate.decisions import accept, delete, reject, threshold
from app.cli.commands.annotate.label import label
from app.cli.commands.annotate.measure import measure
from app.cli.commands.annotate.runs import runs

app = typer.Typer(
    help="Have models propose attributes and label images with them; review and audit what they "
    "say.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
for command in (label, runs, accept, reject, threshold, delete, measure, compare):
    app.command()(command)
