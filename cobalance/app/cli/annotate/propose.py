"""`cobalance annotate propose`: have a language model propose attributes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobalance.app.cli.shared.options import (
    assignments_option,
    cleaned,
    notes,
    opened_store,
    out,
    output_folder,
)
from cobalance.graph.errors import OptionError
from cobalance.graph.wording import inflect

if TYPE_CHECKING:
    from cobalance.annotation.language.chat import ChatModel

Caption = Annotated[
    str,
    typer.Argument(
        metavar="CAPTION", help='Names the domain of the images, such as "a photo of a bird".'
    ),
]
PresetOption = Annotated[
    str,
    typer.Option(
        help="The questions, caption templates and numbers: default, or gelda for the paper's own."
    ),
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
    bool,
    typer.Option("--llm-prompts", help="Have the model write each caption: one more call for each"),
]

ModelOption = Annotated[
    str | None,
    typer.Option(
        help="The model's name at the address; or one to run here: a folder, or owner/name."
    ),
]
LocalOption = Annotated[
    bool,
    typer.Option(
        "--local", help="Run the model here, with transformers: Qwen3-VL-2B (Apache-2.0)."
    ),
]
KeyFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A file with the key of the address.")
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Seconds of one try.")]
AtOnceOption = Annotated[
    int,
    typer.Option(
        min=1, max=64, help="Questions that an address gets at a time; one runs here at a time."
    ),
]


def propose(
    caption: Caption,
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Propose for this dataset.", callback=cleaned)
    ],
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Ask the model at this OpenAI-compatible address, such as "
            "http://127.0.0.1:8000/v1. Questions go there, never images.",
        ),
    ] = None,
    model: ModelOption = None,
    local: LocalOption = False,
    key_file: KeyFileOption = None,
    timeout: TimeoutOption = 120.0,
    at_once: AtOnceOption = 4,
    preset: PresetOption = "default",
    categories: CategoriesOption = None,
    attributes: AttributesOption = None,
    rounds: RoundsOption = None,
    temperature: Annotated[float | None, typer.Option(help="Default: the preset's, 0.3.")] = None,
    phrase: Annotated[
        list[str] | None,
        assignments_option(
            "--phrase",
            "A category's phrase for captions: is, has, with, in or from; such as color=is.",
        ),
    ] = None,
    noun: Annotated[
        str, typer.Option(help="What the images show. Default: the caption's own noun.")
    ] = "",
    llm_prompts: PromptsOption = False,
    sensitive: Annotated[
        bool,
        typer.Option(
            "--sensitive",
            help="Also gender, ethnicity, age and the like: categories that are then called "
            "perceived, as images show how people look and not who they are.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Another one asks all questions anew.")] = 0,
    synonyms: Annotated[
        str,
        typer.Option(
            help="What near synonyms are found by: letters; clip, by CLIP's embeddings; or auto, "
            "which is clip where it is on this machine."
        ),
    ] = "auto",
) -> None:
    """Have a language model propose attributes for a dataset: categories, and what each has.

    What it says most often in several rounds is kept, with a level (whole image or object) and a
    caption. Every reply is kept, so that the same command again asks nothing twice. Nothing becomes
    a concept before `cobalance annotate review`. Print the run's id.
    """
    folder = output_folder()
    from cobalance.annotation.proposing.options import read_preset
    from cobalance.workflows.label.propose import ProposeOrder, open_embedder, propose_attributes

    options = read_preset(
        preset,
        {
            **given(
                categories=categories,
                attributes=attributes,
                rounds=rounds,
                temperature=temperature,
            ),
            "phrases": _phrases(phrase),
            "noun": noun,
            "llm_prompts": llm_prompts,
            "sensitive": sensitive,
            "seed": seed,
        },
    )
    chat = chosen_chat(url, model, key_file, timeout, local=local)
    order = ProposeOrder(dataset, caption, options)
    embed, compared_by = open_embedder(synonyms)
    with opened_store() as (store, progress):
        done = propose_attributes(
            store,
            folder,
            chat,
            order,
            embed=embed,
            compared_by=compared_by,
            at_once=1 if local else at_once,
            progress=progress,
        )
    out.print(done.run, markup=False)
    usage = done.usage
    notes.print(
        f"{inflect(done.attributes, 'attributes')}, {done.flagged} of them flagged. "
        f"{inflect(usage.asked, 'replies')} asked for, {usage.kept} kept from before, with "
        f"{usage.tokens_in:,} tokens in and {usage.tokens_out:,} out. Near synonyms by "
        f"{done.compared_by}.",
        markup=False,
    )
    if done.left_out:
        notes.print(
            f"Left out, as they need --sensitive: {', '.join(done.left_out)}.", markup=False
        )
    notes.print(f"Review them: cobalance annotate review {dataset}", markup=False)


def chosen_chat(
    url: str | None, model: str | None, key_file: Path | None, timeout: float, *, local: bool
) -> "ChatModel":
    """Open the one language model that the options name; OptionError for none or two."""
    from cobalance.workflows.label.propose import open_endpoint, open_local

    if url is not None and not local:
        if model is None:
            raise OptionError("--url needs the model's name there. Give it with --model.")
        return open_endpoint(url, model, key_file, timeout)
    if local and url is None:
        return open_local(model)
    raise OptionError(
        "Name one language model: --url and --model for one at an address, which gets the "
        "questions, or --local for one that runs here."
    )


def given(**options: object) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _phrases(assignments: list[str] | None) -> dict[str, str]:
    phrases = {}
    for one in assignments or []:
        category, is_one, phrase = one.rpartition("=")
        if not is_one or not category.strip():
            raise OptionError(f"--phrase {one!r} has no category. Write it as color=is.")
        phrases[category.strip().casefold()] = phrase.strip()
    return phrases
