"""Have a language model propose attributes for a dataset, and keep them in the graph."""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobalance.annotation import (
    ChatModel,
    Embed,
    EndpointSettings,
    ProposeOptions,
    Transcript,
    Usage,
    flag_attributes,
    ngram_vectors,
    read_key,
    select_told,
)
from cobalance.annotation.proposing.propose import propose
from cobalance.base import (
    CobalanceError,
    JobBlockedError,
    NotFoundError,
    OptionError,
    Progress,
    check_known,
    is_installed,
    map_optional,
    needs_extra,
    read_options,
    silent,
)
from cobalance.graph import GraphStore, class_sizes, save_attributes
from cobalance.graph.annotations import runs
from cobalance.vision import CLIP_REVISION, ClipModelOptions, find_in_cache
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.settings import Settings

BY_LETTERS = "groups of letters"
# A language model is named by these in settings, where they are known.
NAMING = ("model", "url", "revision")


@dataclass(frozen=True)
class Proposed:
    """Result of an order to propose.

    Parameters
    ----------
    run : str
        Its id.
    attributes : int
        How many were proposed.
    flagged : int
        How many of them a person should look at closely.
    left_out : tuple of str
        Sensitive categories that were not asked for.
    usage : Usage
        Questions and tokens.
    compared_by : str
        What near synonyms were found by.
    """

    run: str
    attributes: int
    flagged: int
    left_out: tuple[str, ...]
    usage: Usage
    compared_by: str


def open_endpoint(settings: EndpointSettings) -> ChatModel:
    """Open a language model behind a URL.

    Raises
    ------
    MissingExtraError
        The extra ``annotate`` is not installed.
    OptionError
        The address or the key cannot be used.
    """
    with needs_extra("Asking a language model", "annotate"):
        from cobalance.annotation import Endpoint
    key = None if settings.key_file is None else read_key(Path(settings.key_file))
    return Endpoint(
        settings.url,
        settings.model,
        key=key,
        timeout_s=settings.timeout_s,
        send_images=settings.send_images,
    )


def open_local(model: str | None = None) -> ChatModel:
    """Open a language model that runs here; None for the default one.

    Raises
    ------
    MissingExtraError
        The extra ``models`` is not installed.
    JobBlockedError
        The model is missing or incomplete.
    OutOfMemoryError
        The device has no room for it.
    """
    with needs_extra("A language model on this machine", "models"):
        from cobalance.annotation import LocalModel, LocalOptions
    return LocalModel(LocalOptions() if model is None else LocalOptions(model=model))


def open_embedder(kind: str = "auto") -> tuple[Embed, str]:
    """Open the embedding that finds near synonyms; return it with its name.

    Parameters
    ----------
    kind : str
        ``letters``; ``clip``, which is downloaded if need be; or ``auto``: CLIP where it is on this
        machine.

    Raises
    ------
    UnknownNameError
        It is none of these.
    MissingExtraError, JobBlockedError
        ``clip`` cannot be loaded.
    """
    check_known("embedding", [kind], ("auto", "clip", "letters"))
    if kind == "auto":
        kind = "letters"
        # Nothing is downloaded for this, as letters do without CLIP.
        with suppress(JobBlockedError):
            if is_installed("models"):
                find_in_cache(ClipModelOptions().model, CLIP_REVISION)
                kind = "clip"

    if kind == "letters":
        with needs_extra("Comparing names by their letters", "annotate"):
            import sklearn  # noqa: F401
        return ngram_vectors, BY_LETTERS

    with needs_extra("CLIP", "models"):
        from cobalance.evaluation import open_clip
    clip = open_clip(ClipModelOptions())
    return clip.embed_texts, clip.vision.checkpoint.label


def start_run(
    store: GraphStore,
    chat: ChatModel,
    dataset: str,
    kind: runs.RunKind,
    settings: Mapping[str, Any],
    prompt: str,
    *order: object,
    created_by: str,
) -> str:
    """Create the run of an order to a language model unless there is one; return its id.

    The same order has the same id, and finds its replies.

    Parameters
    ----------
    prompt : str
        SHA-256 of the questions.
    *order : object
        What decides the id beside the dataset; anything that JSON can hold.
    """
    # A dataset that was renamed takes its runs with it; another one may have its name now. The
    # number of such earlier datasets tells their runs apart.
    earlier = 0
    while True:
        text = json.dumps([dataset, earlier, *order], sort_keys=True)
        run = hashlib.sha256(text.encode()).hexdigest()[:16]
        try:
            if runs.read_run(store, run).dataset == dataset:
                return run
            earlier += 1
        except NotFoundError:
            break

    description = chat.describe()
    provenance = select_told(description, "revision", "weights_sha256", "licence")
    new = runs.NewRun(
        kind,
        str(description["model"]),
        settings,
        prompt_sha256=prompt,
        scores_uri=f"annotations/{run}",
        id=run,
        **provenance,
    )
    return runs.create_run(store, dataset, new, created_by=created_by)


def propose_attributes(
    store: GraphStore,
    folder: OutputFolder,
    chat: ChatModel,
    dataset: str,
    caption: str,
    options: ProposeOptions,
    *,
    compare: tuple[Embed, str] = (ngram_vectors, BY_LETTERS),
    created_by: str = "",
    at_once: int = 1,
    progress: Progress = silent,
) -> Proposed:
    """Have a language model propose attributes for a dataset, and write them to the graph.

    Requests and replies are kept in the output folder. An order that was interrupted, or that is
    given again, asks nothing that has a kept reply; what people decided of an attribute stays.

    Parameters
    ----------
    options : ProposeOptions
        From `cobalance.annotation.proposing.options.read_preset`; these, `caption` and `at_once`
        are those of `cobalance.annotation.proposing.propose.propose`, as are its errors, after
        which the run has failed.
    compare : (Embed, str)
        What near synonyms are found by, see `open_embedder`.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    OptionError
        The caption is empty.
    """
    if not caption.strip():
        raise OptionError("The caption is empty. Name the domain, such as 'a photo of a bird'.")
    embed, compared_by = compare
    classes = list(class_sizes(store, dataset))

    model = select_told(chat.describe(), *NAMING)
    settings = {"caption": caption, **model, **options.model_dump(mode="json")}
    prompt = hashlib.sha256(options.questions.model_dump_json().encode()).hexdigest()
    run = start_run(
        store, chat, dataset, "propose", settings, prompt, settings, created_by=created_by
    )

    transcript = Transcript(chat, folder, f"annotations/{run}/replies")
    try:
        proposal = propose(transcript, caption, options, progress, at_once=at_once)
        attributes = flag_attributes(proposal.attributes, classes, embed, compared_by)
    except CobalanceError as error:
        runs.end_run(store, run, error=str(error))
        raise
    save_attributes(store, run, attributes)
    runs.end_run(store, run)

    usage = transcript.usage
    spent = {
        "replies": usage.asked + usage.kept,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
    }

    results = {"usage": spent, "left_out": proposal.left_out, "compared_by": compared_by}
    runs.change_settings(store, run, {**settings, **results})
    return Proposed(
        run=run,
        attributes=len(attributes),
        flagged=sum(bool(attribute.flags) for attribute in attributes),
        left_out=proposal.left_out,
        usage=usage,
        compared_by=compared_by,
    )


ENDPOINT, LOCAL = "endpoint", "local"
ENDPOINT_HOW = (
    "To have a model at an address asked, whoever runs this app sets COBALANCE_CHAT_URL and "
    "COBALANCE_CHAT_MODEL, and COBALANCE_CHAT_KEY_FILE where it needs a key, and installs the "
    "extra `annotate`."
)


def available_models(settings: Settings) -> tuple[str, ...]:
    """The models that the app may ask, of `ENDPOINT` and `LOCAL`."""
    available = []
    if settings.cobalance_chat_url is not None and is_installed("annotate"):
        available.append(ENDPOINT)
    if is_installed("models"):
        available.append(LOCAL)
    return tuple(available)


def open_model(settings: Settings, which: str) -> ChatModel:
    """Open a model as the operator has set it.

    Raises
    ------
    UnknownNameError
        It is not available.
    OptionError
        The address, its model or its key cannot be used.
    MissingExtraError, JobBlockedError, OutOfMemoryError
        A model on this machine cannot be loaded.
    """
    check_known("language model", [which], available_models(settings))
    model, url = settings.cobalance_chat_model, settings.cobalance_chat_url
    # With an address, the model's name is that of the one there.
    if which == LOCAL:
        return open_local(model if url is None else None)
    if model is None or url is None:
        raise OptionError(
            "COBALANCE_CHAT_URL is set without COBALANCE_CHAT_MODEL. Name the model there."
        )

    key_file = map_optional(str, settings.cobalance_chat_key_file)
    endpoint = {"url": url, "model": model, "key_file": key_file}
    return open_endpoint(read_options(EndpointSettings, endpoint, "The language model"))
