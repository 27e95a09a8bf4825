"""`cobalance annotate extract`: have a language model find concepts in captions."""

from typing import Annotated

import typer

from cobalance.app.cli.annotate.propose import (
    AtOnceOption,
    KeyFileOption,
    LocalOption,
    ModelOption,
    TimeoutOption,
    chosen_chat,
)
from cobalance.app.cli.shared.options import DatasetName, notes, opened_store, out, output_folder
from cobalance.graph.wording import inflect
from cobalance.workflows.settings import Settings


def extract(
    dataset: DatasetName,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Ask the model at this OpenAI-compatible address, such as "
            "http://127.0.0.1:8000/v1. Captions go there, never images.",
        ),
    ] = None,
    model: ModelOption = None,
    local: LocalOption = False,
    key_file: KeyFileOption = None,
    timeout: TimeoutOption = 120.0,
    at_once: AtOnceOption = 4,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first images, by id. Default: all.")
    ] = None,
) -> None:
    """Have a language model find concepts in the captions that were loaded with a dataset.

    A concept counts where its words stand in the caption; what the model infers is counted and
    left out. Every reply is kept, so that the same command again asks nothing twice. Nothing counts
    before `cobalance annotate accept`. Print the run's id.
    """
    folder = output_folder()
    from cobalance.workflows.label.extract import ExtractOrder, extract_concepts

    order = ExtractOrder(dataset, Settings.from_environment().folders().captions, limit)
    chat = chosen_chat(url, model, key_file, timeout, local=local)
    with opened_store() as (store, progress):
        at_once = 1 if local else at_once
        done = extract_concepts(store, folder, chat, order, at_once=at_once, progress=progress)
    out.print(done.run, markup=False)
    usage = done.usage
    notes.print(
        f"{inflect(done.concepts, 'concepts')} in captions of {inflect(done.images, 'images')}. "
        f"{inflect(usage.asked, 'replies')} asked for, {usage.kept} kept from before, with "
        f"{usage.tokens_in:,} tokens in and {usage.tokens_out:,} out.",
        markup=False,
    )
    total = done.mentions + done.inferred
    if done.inferred:
        notes.print(
            f"Inferred and left out, as their captions do not name them: {done.inferred:,} of "
            f"{total:,}, such as {', '.join(done.examples)}.",
            markup=False,
        )
    notes.print(f"Make it count: cobalance annotate accept {done.run}", markup=False)
