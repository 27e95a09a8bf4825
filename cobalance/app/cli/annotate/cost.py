"""`cobalance annotate cost`: what proposing and labelling will take."""

from typing import Annotated

import pandas as pd
import typer

from cobalance.app.cli.annotate.propose import (
    AtOnceOption,
    AttributesOption,
    Caption,
    CategoriesOption,
    KeyFileOption,
    LocalOption,
    ModelOption,
    PresetOption,
    PromptsOption,
    RoundsOption,
    TimeoutOption,
    chosen_chat,
    given,
)
from cobalance.app.cli.shared.assignments import assigned
from cobalance.app.cli.shared.options import (
    FormatOption,
    OutputOption,
    assignments_option,
    cleaned,
    opened_store,
    out,
)
from cobalance.app.cli.shared.tables import Format, check_output, write_frame
from cobalance.graph.errors import OptionError, needs_extra
from cobalance.workflows.settings import Settings


def cost(
    caption: Caption = "a photo of an object",
    preset: PresetOption = "default",
    categories: CategoriesOption = None,
    attributes: AttributesOption = None,
    rounds: RoundsOption = None,
    llm_prompts: PromptsOption = False,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Also the seconds of the calls: ask the language model of --url or --local two "
            "questions now.",
        ),
    ] = False,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The OpenAI-compatible address to measure."),
    ] = None,
    model: ModelOption = None,
    local: LocalOption = False,
    key_file: KeyFileOption = None,
    timeout: TimeoutOption = 120.0,
    at_once: AtOnceOption = 4,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", "-d", help="Also the image passes of this dataset.", callback=cleaned
        ),
    ] = None,
    annotator: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="ANNOTATOR",
            help="Also the seconds, from two batches of the dataset's images that this annotator "
            "scores now.",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        assignments_option("--set", "An option of the annotator, such as model=FOLDER."),
    ] = None,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Show the calls, tokens, image passes and seconds that annotating takes, before it runs.

    Calls are R for the categories, R·N for the attributes and N for the levels, and N·M more with
    --llm-prompts; retries apart. Tokens are estimated from the questions. The seconds of the calls
    are unknown without --measure.
    """
    from cobalance.annotation.proposing.cost import chat_cost, measure_chat
    from cobalance.annotation.proposing.options import read_preset

    check_output(format_, output)
    if annotator is not None and dataset is None:
        raise OptionError("--with needs the dataset whose images it scores. Give --dataset.")
    if not measure and (url is not None or local):
        raise OptionError("--url and --local are for --measure, which asks two questions now.")
    changes = given(categories=categories, attributes=attributes, rounds=rounds)
    options = read_preset(preset, {**changes, "llm_prompts": llm_prompts})
    asked = chat_cost(options, caption)
    row: dict[str, object] = {**asked.__dict__, "chat_seconds": "unknown"}
    if measure:
        chat = chosen_chat(url, model, key_file, timeout, local=local)
        row["chat_seconds"] = measure_chat(chat, options, caption, 1 if local else at_once)
    if dataset is not None:
        with needs_extra("Measuring an annotator", "worker"):
            from cobalance.workflows.label.order import label_cost
        texts = options.categories * options.attributes
        folders = Settings.from_environment().folders()
        with opened_store() as (store, progress):
            row |= label_cost(
                store, folders, dataset, texts, annotator, assigned(setting), progress
            )
    write_frame(pd.DataFrame([row]), format_, output, out)
