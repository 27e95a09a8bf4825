"""Load verified checkpoints with diffusers and transformers, and refuse incomplete models."""

import json
import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import metadata
from typing import Any

from cobalance.base import JobBlockedError, OutOfMemoryError, transformers
from cobalance.vision.models.checkpoints import Checkpoint, describe_error
from cobalance.vision.models.devices import SMALLER_MODEL, out_of_memory
from cobalance.vision.models.weight_files import MODEL_FILE, PIPELINE_FILE, list_components

_LIBRARIES = ("diffusers", "transformers", "huggingface_hub", "accelerate")


def load_model(kind: Any, checkpoint: Checkpoint, **options: Any) -> Any:
    """Load a model or pipeline from local files.

    Parameters
    ----------
    kind : type
        A class with ``from_pretrained`` of diffusers or transformers.
    checkpoint : Checkpoint
        From `find_checkpoint`.
    **options
        Further arguments of ``from_pretrained``, such as ``dtype``.

    Raises
    ------
    JobBlockedError
        The library cannot load it, some of the model's tensors are not in the files, or a
        tokenizer has no vocabulary.
    OutOfMemoryError
        The machine has no room for it.
    """
    if checkpoint.variant is not None:
        options["variant"] = checkpoint.variant
    index = checkpoint.read_config(PIPELINE_FILE)
    if not index or kind.__module__.startswith("transformers."):
        return _load_part(kind, checkpoint, **options)

    # diffusers does not report missing tensors of transformers models: those are loaded first.
    for part in list_components(index):
        library, name = _class_of(checkpoint, part, index[part])
        weights = tuple(file for file in checkpoint.weights if file.startswith(f"{part}/"))
        if weights and library == "transformers" and part not in options:
            part_options: dict[str, Any] = {"dtype": options.get("dtype")}
            # A part that has none of the variant has plain weights.
            if any(f".{checkpoint.variant}" in file for file in weights):
                part_options["variant"] = checkpoint.variant
            options[part] = _load_part(
                _find_class(checkpoint, part, name),
                replace(checkpoint, folder=checkpoint.folder / part, weights=weights),
                **part_options,
            )

    pipeline = _from_pretrained(kind, checkpoint, use_safetensors=True, **options)
    for model in pipeline.components.values():
        if hasattr(model, "parameters"):
            # What no file has filled is on the device "meta", without numbers.
            missing = [name for name, values in model.named_parameters() if values.is_meta]
            _refuse_gaps(checkpoint, model, missing)
    _check_tokenizers(checkpoint.name, pipeline)
    return pipeline


def _class_of(checkpoint: Checkpoint, part: str, entry: Any) -> tuple[str, str]:
    """The library and the class of a pipeline's component."""
    match entry:
        case [str(library), str(name)]:
            return library, name
    raise JobBlockedError(
        f"The model {checkpoint.name}: {PIPELINE_FILE} has {json.dumps(entry)} for "
        f"{part}, which is not a library and a class of it. Copy or download the file "
        "again."
    )


def _find_class(checkpoint: Checkpoint, part: str, name: str) -> Any:
    """A class of transformers by its name; JobBlockedError for an unknown one."""
    with quiet():
        kind = getattr(transformers, name, None)
    if kind is None:
        raise JobBlockedError(
            f"The model {checkpoint.name} needs {name} for {part}, which this transformers does "
            f"not have ({metadata.version('transformers')}). Install a newer one, or correct the "
            f"name in {PIPELINE_FILE}."
        )
    return kind


def _load_part(kind: Any, checkpoint: Checkpoint, **options: Any) -> Any:
    model, report = _from_pretrained(
        kind, checkpoint, use_safetensors=True, output_loading_info=True, **options
    )
    # transformers fills missing tensors with random numbers and only warns.
    mismatched = [entry[0] for entry in report["mismatched_keys"]]
    _refuse_gaps(checkpoint, model, [*report["missing_keys"], *mismatched])
    return model


def _refuse_gaps(checkpoint: Checkpoint, model: Any, missing: list[str]) -> None:
    if missing:
        raise JobBlockedError(
            f"The model {checkpoint.name} is not a complete {type(model).__name__}: {len(missing)} "
            f"of its tensors are missing, such as {min(missing)}. Give a model that was trained as "
            "one, or download it again."
        )


def load_processor(kind: Any, checkpoint: Checkpoint, **options: Any) -> Any:
    """Load a processor, or a tokenizer with its vocabulary; JobBlockedError if that fails."""
    processor = _from_pretrained(kind, checkpoint, **options)
    config = checkpoint.read_config(MODEL_FILE)
    words = (config.get("text_config") or config).get("vocab_size")
    check_tokenizer(checkpoint.name, kind.__name__, processor, words)
    return processor


def _from_pretrained(kind: Any, checkpoint: Checkpoint, **options: Any) -> Any:
    """Call ``from_pretrained`` on local files; JobBlockedError where it fails."""
    try:
        with out_of_memory(f"the model {checkpoint.label}", SMALLER_MODEL), quiet():
            return kind.from_pretrained(str(checkpoint.folder), local_files_only=True, **options)
    except OutOfMemoryError:
        raise
    except Exception as error:  # a library's loader raises whatever the files make it raise
        raise JobBlockedError(
            f"The model {checkpoint.name} cannot be loaded as {kind.__name__}: "
            f"{describe_error(error)}. Check that it is of this kind and complete."
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the progress bars, advice and warnings of the libraries in a ``with`` block."""
    names = ("diffusers.utils.logging", "transformers.utils.logging")
    # Only of libraries that are imported already: nothing is imported to be silenced.
    modules = [sys.modules[name] for name in names if name in sys.modules]
    with_bars = [module for module in modules if module.is_progress_bar_enabled()]

    loggers = list(map(logging.getLogger, _LIBRARIES))
    levels = [logger.level for logger in loggers]

    try:
        for module in with_bars:
            module.disable_progress_bar()
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for module in with_bars:
            module.enable_progress_bar()
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def software(*packages: str) -> dict[str, str]:
    """Installed versions of packages, by name; missing packages are left out.

    Examples
    --------
    >>> list(software("numpy", "no-such-package"))
    ['numpy']
    """
    versions = {}
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


# Two texts without a common word.
_TEXTS = ("a photo of a cat", "the sea")


def _check_tokenizers(model: str, pipeline: Any) -> None:
    """Refuse a pipeline with a tokenizer that does not fit its text encoder."""
    for part, tokenizer in pipeline.components.items():
        encoder = getattr(pipeline, part.replace("tokenizer", "text_encoder"), None)
        config = getattr(encoder, "config", None)
        config = getattr(config, "text_config", config)
        check_tokenizer(model, part, tokenizer, getattr(config, "vocab_size", None))

        limit = getattr(config, "max_position_embeddings", None)
        # Only for CLIP do pipelines take the number of tokens from the tokenizer.
        if isinstance(tokenizer, transformers.CLIPTokenizer) and limit is not None:
            length = tokenizer.model_max_length
            if length > limit:
                raise _incomplete(model, part, f"gives up to {length} tokens, not {limit}")


def check_tokenizer(model: str, part: str, processor: Any, words: int | None) -> None:
    """Refuse a tokenizer, or a processor with one, whose vocabulary is missing.

    Parameters
    ----------
    model, part : str
        The names of the model and of its part, for messages.
    processor
        A tokenizer or processor of transformers; one without a tokenizer passes.
    words : int or None
        Vocabulary size of the text encoder; None where unknown.

    Raises
    ------
    JobBlockedError
        It has no vocabulary, or a larger one than the encoder.
    """
    tokenizer = getattr(processor, "tokenizer", processor)
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
        return
    try:
        tokens = [set(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in _TEXTS]
    except Exception as error:  # a tokenizer raises whatever its files make it raise
        raise _incomplete(model, part, f"fails ({error!r})") from error

    # Without a vocabulary both texts are nothing but unknown words.
    no_words = {*tokenizer.all_special_ids, tokenizer.unk_token_id}
    if tokens[0] - no_words == tokens[1] - no_words:
        raise _incomplete(model, part, "tells no words apart")
    if words is not None and max(set.union(*tokens)) >= words:
        raise _incomplete(model, part, f"knows {len(tokenizer)} words, and its model {words}")


def _incomplete(model: str, part: str, problem: str) -> JobBlockedError:
    return JobBlockedError(
        f"The model {model} is incomplete: its {part} {problem}. Copy or download the tokenizer's "
        "files again."
    )
