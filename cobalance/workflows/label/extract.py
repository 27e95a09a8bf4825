"""Have a language model find concepts in a dataset's captions, as a run of labels."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from cobalance.annotation import (
    QUESTION,
    ChatModel,
    Extracted,
    LabelledAttribute,
    LabelSettings,
    Scores,
    Transcript,
    Usage,
    in_order,
    select_told,
    singular_names,
)
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.proposing.extract import extract
from cobalance.base import (
    Action,
    CobalanceError,
    DataError,
    Progress,
    positions_of,
    silent,
    values_at,
)
from cobalance.graph import GraphStore, change_settings, end_run, read_annotations, read_run
from cobalance.ingest import read_image_texts
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.label.propose import NAMING, start_run

CHUNK_IMAGES = 1000


@dataclass(frozen=True)
class ExtractedRun:
    """Result of an order to extract.

    Parameters
    ----------
    run : str
        Its id.
    images : int
        Those with a caption that was read.
    concepts : int
        Concepts that captions name.
    mentions, inferred : int
        What the model found in captions (a caption and concept once) that the caption names, and
        that it does not.
    examples : tuple of str
        Some inferred ones, the most frequent first.
    usage : Usage
        Questions and tokens.
    """

    run: str
    images: int
    concepts: int
    mentions: int
    inferred: int
    examples: tuple[str, ...]
    usage: Usage


def extract_concepts(
    store: GraphStore,
    folder: OutputFolder,
    chat: ChatModel,
    dataset: str,
    captions: Path,
    *,
    limit: int | None = None,
    created_by: str = "",
    at_once: int = 1,
    progress: Progress = silent,
) -> ExtractedRun:
    """Have a language model find concepts in a dataset's captions; they count once accepted.

    Equal captions are asked about once. An image has a concept if one of its captions names it:
    score 1, and 0 otherwise. Names whose words are not in the caption are counted, and left out.
    Requests and replies are kept: an order that was interrupted goes on, one given again asks
    nothing.

    Parameters
    ----------
    captions : Path
        The folder of captions.
    limit : int or None
        Read the captions of so many images at most, the first ones by id.
    at_once : int
        Questions that the model gets at a time; the result does not depend on it.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    LanguageModelError
        The model gives no reply that can be read in three tries; the run has then failed.
    DataError
        No image has a caption, or none names what the model finds.
    """
    images = _read_captions(store, dataset, captions, limit)
    settings = LabelSettings(
        annotator="extract",
        options={**select_told(chat.describe(), *NAMING), "limit": limit},
        rule="threshold",
        threshold=0.5,
        images=len(images),
        chunk_images=CHUNK_IMAGES,
    )
    content = settings.model_dump(mode="json")
    prompt = hashlib.sha256(QUESTION.encode()).hexdigest()
    # The run's id is made of these: other captions or another model make another run.
    identity = (content, prompt, [images["id"].tolist(), images["captions"].tolist()])
    run = start_run(
        store, chat, dataset, "caption", content, prompt, *identity, created_by=created_by
    )

    transcript = Transcript(chat, folder, f"annotations/{run}/replies")
    try:
        replies = _ask(transcript, _different(images), at_once, progress)
        names = {name for reply in replies.values() for name in reply.found}
        if not names:
            raise DataError(
                f"The model found nothing that the captions of {dataset!r} name. Take "
                "another model."
            )
    except CobalanceError as error:
        end_run(store, run, error=str(error))
        raise

    counts_as = singular_names(sorted(names))
    concepts = sorted(set(counts_as.values()))
    if not read_run(store, run).has_labels:
        _write(ScoreFiles(folder, run), images, replies, counts_as, concepts)
        attributes = [
            LabelledAttribute(category="", concept=name, caption=name) for name in concepts
        ]
        whole = settings.model_copy(update={"attributes": tuple(attributes)})
        change_settings(store, run, whole.model_dump(mode="json"))
        end_run(store, run)

    inferred = Counter(name for reply in replies.values() for name in reply.inferred)
    return ExtractedRun(
        run=run,
        images=len(images),
        concepts=len(concepts),
        mentions=sum(len(reply.found) for reply in replies.values()),
        inferred=inferred.total(),
        examples=tuple(name for name, _ in inferred.most_common(5)),
        usage=transcript.usage,
    )


def _ask(
    transcript: Transcript, captions: list[str], at_once: int, progress: Progress
) -> dict[str, Extracted]:
    """The model's findings in each caption."""
    replies: dict[str, Extracted] = {}
    progress("ask the language model", 0, len(captions))
    for reply in in_order(partial(extract, transcript), captions, at_once):
        replies[captions[len(replies)]] = reply
        progress("ask the language model", len(replies), len(captions))
    return replies


def _different(images: pd.DataFrame) -> list[str]:
    """Captions of images, equal ones once."""
    return images["captions"].explode().unique().tolist()


def count_captions(
    store: GraphStore, dataset: str, captions: Path, limit: int | None = None
) -> tuple[int, int]:
    """Images with captions, and how many captions differ: the questions, retries apart.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    DataError
        No image has a caption.
    """
    images = _read_captions(store, dataset, captions, limit)
    return len(images), len(_different(images))


def _read_captions(
    store: GraphStore, dataset: str, captions: Path, limit: int | None
) -> pd.DataFrame:
    """Images with captions, by id: ``id``, ``uri``, ``synthetic`` and ``captions``."""
    images = read_annotations(store, dataset).images[["id", "uri", "synthetic"]]
    texts = read_image_texts(captions, dataset)[["id", "captions"]]
    texts["captions"] = texts["captions"].map(_without_blanks)
    with_captions = texts[texts["captions"].map(len) > 0]

    captioned = images.merge(with_captions, on="id").sort_values("id")
    if captioned.empty:
        raise DataError(
            f"No image of {dataset!r} has a caption. To load captions with it, ",
            Action("ingest", ..., dataset=dataset, captions="captions.json"),
            ".",
        )
    return captioned if limit is None else captioned.head(limit)


def _without_blanks(captions: Iterable[str]) -> list[str]:
    return [caption for caption in captions if caption.strip()]


def _write(
    files: ScoreFiles,
    images: pd.DataFrame,
    replies: Mapping[str, Extracted],
    counts_as: Mapping[str, str],
    concepts: list[str],
) -> None:
    """Write 1 where a caption of an image names a concept, else 0, in chunks of images."""
    column_of = positions_of(concepts)
    columns = {name: column_of[concept] for name, concept in counts_as.items()}
    image_columns = images[["id", "uri", "synthetic"]]
    files.write_images(pa.Table.from_pandas(image_columns, preserve_index=False))

    for chunk, start in enumerate(range(0, len(images), CHUNK_IMAGES)):
        rows = images.iloc[start : start + CHUNK_IMAGES]
        scores = np.zeros((len(rows), len(concepts)), np.float32)
        for row, captions in enumerate(rows["captions"]):
            for caption in captions:
                scores[row, values_at(columns, replies[caption].found)] = 1
        files.write_scores(chunk, rows["id"].tolist(), Scores(scores, only_seen=True))
