"""`cobalance evaluate`: train models on datasets, and score and compare their predictions."""

import typer

from cobalance.app.cli.evaluate.explain import artefact, cam, clusters
from cobalance.app.cli.evaluate.results import delete, export, predict, show
from cobalance.app.cli.evaluate.score import score
from cobalance.app.cli.evaluate.study import study
from cobalance.app.cli.evaluate.train import train

app = typer.Typer(no_args_is_help=True)
for command in (train, predict, show, export, delete, score, artefact, cam, clusters, study):
    app.command()(command)
