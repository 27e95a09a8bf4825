"""`cobalance annotate propose` and `cost`: attributes by a language model, and their cost."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.annotation.language import chat as chats, endpoint_settings
from cobalance.annotation.proposing import cost as costs, options as proposing_options
from cobalance.app.cli.shared import (
    Assignments,
    DatasetOption,
    TableOutput,
    assigned,
    clean_names,
    folders,
    notes,
    opened_store,
    out,
    output_folder,
)
from cobalance.base import OptionError, inflect, needs_extra, options as options_, pandas as pd
from cobalance.workflows.label import propose as proposing

Caption = Annotated[
    str,
    typer.Argument(
        metavar="CAPTION", help='Names the domain of the images, such as "a photo of a bird".'
    ),
]
PresetOption = Annotated[
    str,
    "A set of settings: questions, caption templates and numbers; default, or gelda for "
    "the paper's own.",
]
CategoriesOption = Annotated[
    int | None, typer.Option("--categories", "-N", help="Categories. Default: the preset's, 10.")
]
AttributesOption = Annotated[
    int | None, typer.Option("--attributes", "-M", help="Attributes of each. Default: 5.")
]
RoundsOption = Annotated[
    int | None, typer.Option("--rounds", "-R", help="How often each is asked for. Default: 5.")
]
PromptsOption = Annotated[
    bool, "Have the model write the captions, one more call for each attribute."
]
UrlOption = Annotated[
    str | None,
    typer.Option(metavar="URL"),
    "Ask the model at this OpenAI-compatible address, such as http://127.0.0.1:8000/v1. Texts go "
    "there, never images.",
]
ModelOption = Annotated[
    str | None, "The model: its name at the address; or one to run here: a folder, or owner/name."
]
LocalOption = Annotated[bool, "Run the model here, with transformers: Qwen3-VL-2B (Apache-2.0)."]
KeyFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A file with the key of the address.")
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Time limit in seconds, of one try.")]
AtOnceOption = Annotated[
    int,
    typer.Option(min=1, max=64),
    "Questions that an address gets at a time. One runs here at a time.",
]
CompareByOption = Annotated[
    str,
    "How names are compared: letters, by spelling (TF-IDF of groups of letters); clip, by "
    "CLIP's text encoder; auto, by CLIP where it is on this machine.",
]
SettingOption = Annotated[
    Assignments, "An option of the annotator, such as model=FOLDER. Repeat it."
]


def propose(
    caption: Caption,
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", callback=clean_names), "The dataset to propose for."
    ],
    url: UrlOption = None,
    model: ModelOption = None,
    local: LocalOption = False,
    key_file: KeyFileOption = None,
    timeout: TimeoutOption = 120.0,
    at_once: AtOnceOption = 4,
    preset: PresetOption = "default",
    categories: CategoriesOption = None,
    attributes: AttributesOption = None,
    rounds: RoundsOption = None,
    temperature: Annotated[float | None, "Default: the preset's, 0.3."] = None,
    phrase: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE"),
        "A category's phrase for captions: is, has, with, in or from; such as color=is. Repeat it.",
    ] = None,
    noun: Annotated[str, "What the images show. Default: the caption's own noun."] = "",
    llm_prompts: PromptsOption = False,
    sensitive: Annotated[
        bool,
        "Also gender, ethnicity, age and the like: categories that are then called "
        "perceived, as images show how people look and not who they are.",
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed. Another one asks all questions anew.")
    ] = 0,
    compare_by: CompareByOption = "auto",
) -> None:
    """Have a language model propose attributes for a dataset: categories, and what each has.

    What it says most often in several rounds is kept, with a level (whole image or object) and a
    caption. Every reply is kept, so that the same command again asks nothing twice. Nothing becomes
    a concept before `cobalance annotate review`. Print the run's id.
    """
    folder = output_folder()
    options = proposing_options.read_preset(
        preset,
        {
            "categories": categories,
            "attributes": attributes,
            "rounds": rounds,
            "temperature": temperature,
            "phrases": _phrases(phrase),
            "noun": noun,
            "llm_prompts": llm_prompts,
            "sensitive": sensitive,
            "seed": seed,
        },
    )
    chat = open_chat(url, model, key_file, timeout, local=local)
    compare = proposing.open_embedder(compare_by)
    with opened_store() as (store, progress):
        proposal = proposing.propose_attributes(
            store,
            folder,
            chat,
            dataset,
            caption,
            options,
            compare=compare,
            at_once=at_a_time(at_once, local=local),
            progress=progress,
        )

    out.print(proposal.run)
    notes.print(
        f"{inflect(proposal.attributes, 'attributes')}, {proposal.flagged} of them flagged. "
        f"{proposal.usage.describe()} Near synonyms by {proposal.compared_by}."
    )
    if proposal.left_out:
        notes.print(f"Left out, as they need --sensitive: {', '.join(proposal.left_out)}.")
    notes.print(f"Review them: cobalance annotate review {dataset}")


def open_chat(
    url: str | None, model: str | None, key_file: Path | None, timeout: float, *, local: bool
) -> "chats.ChatModel":
    """Open the one language model that the options name; OptionError for none or two."""
    if url is not None and not local:
        return proposing.open_endpoint(read_endpoint(url, model, key_file, timeout))
    if local and url is None:
        return proposing.open_local(model)
    raise OptionError(
        "Name one language model: --url and --model for one at an address, which gets the "
        "questions, or --local for one that runs here."
    )


def at_a_time(at_once: int, *, local: bool) -> int:
    """Number of questions that a model gets at a time: one on this machine answers one."""
    return 1 if local else at_once


def read_endpoint(
    url: str, model: str | None, key_file: Path | None, timeout: float, **more: object
) -> "endpoint_settings.EndpointSettings":
    """The address that options name, checked."""
    if model is None:
        raise OptionError("--url needs the model's name there. Give it with --model.")

    values = {"url": url, "model": model, "timeout_s": timeout, **more}
    if key_file is not None:
        values["key_file"] = str(key_file)
    return options_.read_options(endpoint_settings.EndpointSettings, values, "The language model")


def _phrases(assignments: list[str] | None) -> dict[str, str]:
    phrases = {}
    for assignment in assignments or []:
        category, equals, phrase = assignment.rpartition("=")
        if not equals or not category.strip():
            raise OptionError(f"--phrase {assignment!r} has no category. Write it as color=is.")
        phrases[category.strip().casefold()] = phrase.strip()
    return phrases


def cost(
    to: TableOutput,
    caption: Caption = "a photo of an object",
    preset: PresetOption = "default",
    categories: CategoriesOption = None,
    attributes: AttributesOption = None,
    rounds: RoundsOption = None,
    llm_prompts: PromptsOption = False,
    measure: Annotated[
        bool,
        "Also the seconds of the calls: ask the language model of --url or --local two "
        "questions now.",
    ] = False,
    url: UrlOption = None,
    model: ModelOption = None,
    local: LocalOption = False,
    key_file: KeyFileOption = None,
    timeout: TimeoutOption = 120.0,
    at_once: AtOnceOption = 4,
    dataset: Annotated[DatasetOption, "The dataset whose image passes are shown, too."] = None,
    annotator: Annotated[
        str | None,
        "The annotator: also the seconds, from two batches of the dataset's images that "
        "it scores now.",
    ] = None,
    setting: SettingOption = None,
) -> None:
    """Show the calls, tokens, image passes and seconds that annotating takes, before it runs.

    Calls are R for the categories, R·N for the attributes and N for the levels, and N·M more with
    --llm-prompts; retries apart. Tokens are estimated from the questions. The seconds of the calls
    are unknown without --measure.
    """
    if annotator is not None and dataset is None:
        raise OptionError("--annotator needs the dataset whose images it scores. Give --dataset.")
    if not measure and (url is not None or local):
        raise OptionError("--url and --local are for --measure, which asks two questions now.")
    changes = {"categories": categories, "attributes": attributes, "rounds": rounds}
    options = proposing_options.read_preset(preset, {**changes, "llm_prompts": llm_prompts})

    calls = costs.chat_cost(options, caption)
    row: dict[str, object] = {**calls.__dict__, "chat_seconds": "unknown"}
    if measure:
        chat = open_chat(url, model, key_file, timeout, local=local)
        questions = at_a_time(at_once, local=local)
        row["chat_seconds"] = costs.measure_chat(chat, options, caption, questions)

    if dataset is not None:
        with needs_extra("Measuring an annotator", "worker"):
            from cobalance.workflows import label_cost
        texts = options.categories * options.attributes
        places = folders()
        with opened_store() as (store, progress):
            row |= label_cost(store, places, dataset, texts, annotator, assigned(setting), progress)
    to.write(pd.DataFrame([row]))
