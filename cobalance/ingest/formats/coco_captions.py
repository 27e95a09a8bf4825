"""COCO captions: a JSON file of captions, searched for the concepts of a vocabulary."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cobalance.base import Annotations, BoolArray, IntArray, Progress, Setting
from cobalance.ingest import frames
from cobalance.ingest.coco import coco_kind, read_captions
from cobalance.ingest.concepts import CAPTION, labels_beside, labels_from_texts, load_vocabulary
from cobalance.ingest.frames import ImageColumns, MentionColumns, TextColumns
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
        require_vocabulary(options, problems)
        images, texts, image_texts = read_captions(path, options.split, problems, progress)
        captions = Captions(images.columns, ~images.images.bad, images.image, texts, image_texts)
        return captions.annotations(options, problems, progress)


@dataclass(frozen=True, eq=False)
class Captions:
    """Images, of which some may be malformed, and captions about them.

    `image` (int64) is the row of each caption's image; `image_texts` are the captions by image.
    """

    columns: ImageColumns
    is_sound: BoolArray
    image: IntArray
    texts: Sequence[str]
    image_texts: TextColumns

    def annotations(
        self, options: ReadOptions, problems: Problems, progress: Progress
    ) -> Annotations:
        """The images with the phrases of the vocabulary in their captions as concepts."""
        vocabulary = load_vocabulary(options)
        n = len(self.columns.ids)
        notes: tuple[str, ...] = ()
        if options.searches_own_captions:
            labels = labels_from_texts(self.image, self.texts, n, options, problems, progress)
        else:
            labels, notes = labels_beside(self.columns, options, problems, progress)

        rows, concept = vocabulary.find_all(self.texts, problems, progress)
        mentions = MentionColumns(self.image[rows], concept, CAPTION, {})
        return frames.annotations(
            self.columns,
            labels,
            [mentions],
            self.is_sound,
            texts=self.image_texts,
            skipped=problems.messages,
            notes=notes,
        )


def require_vocabulary(options: ReadOptions, problems: Problems) -> None:
    """Raise InputError without a vocabulary, before the captions are read."""
    if not options.vocabulary:
        raise problems.fatal(
            "has captions, and no vocabulary says which of their words are concepts",
            ("Set ", Setting("vocabulary"), " to a file of a concept a line."),
        )


PLUGIN = format_of("coco-captions", CocoCaptions())
