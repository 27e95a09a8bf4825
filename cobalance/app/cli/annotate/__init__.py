"""`cobalance annotate`: have models propose and label attributes; review and audit them."""

import typer

from cobalance.app.cli.annotate.audit import audit
from cobalance.app.cli.annotate.label import extract, label
from cobalance.app.cli.annotate.measure import compare, measure
from cobalance.app.cli.annotate.propose import cost, propose
from cobalance.app.cli.annotate.review import accept, delete, reject, review, runs, threshold

app = typer.Typer(no_args_is_help=True)
_PROPOSING = (cost, propose, review)
_LABELLING = (label, extract, runs, accept, reject, threshold, delete)
for command in (*_PROPOSING, *_LABELLING, measure, compare, audit):
    app.command()(command)
