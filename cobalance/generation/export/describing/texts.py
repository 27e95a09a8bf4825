"""Counts of captions and licences for an export's data card."""

from collections import Counter
from dataclasses import dataclass, field

from cobalance.base import inflect
from cobalance.generation.export.images.image import ExportImage

UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class TextCounts:
    """Images with captions, and images of each licence.

    Parameters
    ----------
    captions, edited : counter
        Images with captions, and those whose captions were edited, by whether they are generated.
    licenses : counter
        Images by name of licence and whether they are generated; `UNKNOWN` for the others.
    attributed : counter
        Images whose origin is known, by whether they are generated.
    """

    captions: Counter[bool] = field(default_factory=Counter)
    edited: Counter[bool] = field(default_factory=Counter)
    licenses: Counter[tuple[str, bool]] = field(default_factory=Counter)
    attributed: Counter[bool] = field(default_factory=Counter)

    def add(self, image: ExportImage) -> None:
        """Count an image."""
        text, is_generated = image.text, image.synthetic
        self.captions[is_generated] += bool(text.captions)
        self.edited[is_generated] += bool(text.source_captions)
        self.licenses[text.license or text.license_url or UNKNOWN, is_generated] += 1
        self.attributed[is_generated] += text.attribution is not None

    @property
    def has_licenses(self) -> bool:
        """Whether the licence of any image is known."""
        return any(n and name != UNKNOWN for (name, _), n in self.licenses.items())

    def sentences(self) -> list[str]:
        """Describe captions and licences in sentences."""
        sentences = []
        if self.captions.total():
            sentences.append(
                f"{inflect(self.captions[False], 'real images')} and "
                f"{inflect(self.captions[True], 'generated images')} have captions."
            )

        if self.edited.total():
            sentences.append(
                "Captions of generated images are those of the image that they were made from, "
                "edited by word lists to name what was asked for (`captions`); the unedited ones "
                "are beside them (`source_captions`). Nobody has seen whether they fit the image."
            )

        if self.has_licenses or self.attributed.total():
            sentences.append(
                "Licences and origins are those that the dataset's files state; a generated image "
                "has those of the image that it was made from, and of one whose object is pasted "
                "into it (`license`, `attribution`)."
            )
        return sentences

    def license_rows(self) -> list[tuple[str, int, int]]:
        """Name of each licence, with its real and its generated images; none if none is known."""
        if not self.has_licenses:
            return []
        names = {name for name, _ in self.licenses}
        # Images of unknown licence come last.
        in_order = sorted(names, key=lambda name: (name == UNKNOWN, name))
        return [(name, self.licenses[name, False], self.licenses[name, True]) for name in in_order]
