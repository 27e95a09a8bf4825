"""COCO captions: a JSON file of captions, searched for the concepts of a vocabulary."""

from dataclasses import dataclass
from pathlib import Path

from cobalance.base import Annotations, Progress, Setting
from cobalance.ingest import frames
from cobalance.ingest.coco import coco_kind, read_captions
from cobalance.ingest.concepts import CAPTION, labels_beside, labels_from_texts, load_vocabulary
from cobalance.ingest.frames import MentionColumns
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import format_of


@dataclass(frozen=True)
class CocoCaptions:
    """Reader of COCO captions; each phrase of the vocabulary found is a mention."""

    description: str = "COCO captions: sentences about images as one JSON file"
    uses: frozenset[str] = frozenset({"vocabulary", "own captions"})

    def detects(self, path: Path, _head: bytes) -> bool:
        """Whether the annotations have captions."""
        return coco_kind(path) == "captions"

    def read(self, path: Path, options: ReadOptions, progress: Progress) -> Annotations:
        """Read images and captions, and find concepts (and classes) in the captions."""
        problems = Problems(str(path), options)
        if not options.vocabulary:
            raise problems.fatal(
                "has captions, and no vocabulary says which of their words are concepts",
                ("Set ", Setting("vocabulary"), " to a file of a concept a line."),
            )

        vocabulary = load_vocabulary(options)
        images, texts, image_texts = read_captions(path, options.split, problems, progress)
        n = len(images.columns.ids)

        notes: tuple[str, ...] = ()
        if options.searches_own_captions:
            labels = labels_from_texts(images.image, texts, n, options, problems, progress)
        else:
            labels, notes = labels_beside(images.columns, options, problems, progress)

        rows, concept = vocabulary.find_all(texts, problems, progress)
        mentions = MentionColumns(images.image[rows], concept, CAPTION, {})
        return frames.annotations(
            images.columns,
            labels,
            [mentions],
            ~images.images.bad,
            texts=image_texts,
            skipped=problems.messages,
            notes=notes,
        )


PLUGIN = format_of("coco-captions", CocoCaptions())
