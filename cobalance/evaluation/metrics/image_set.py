"""Images that metrics look at, decoded where they are needed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cobalance.graph.errors import InputError
from cobalance.ingest.images.arrays import ImageArray
from cobalance.ingest.images.decoding import decode, rgb_array
from cobalance.ingest.images.image_file import ImageFileError


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images of a folder, export or dataset.

    Parameters
    ----------
    source : str
        Where they are from, for messages.
    names : sequence of str
        Image ids; of a folder the paths inside it.
    content : callable
        Takes the row of an image, returns its file's content.
    """

    source: str
    names: Sequence[str]
    content: Callable[[int], bytes]

    def __len__(self) -> int:
        return len(self.names)

    def read(self, rows: Iterable[int]) -> list[ImageArray]:
        """Pixels of some images, upright and in RGB, whatever their files have.

        Raises
        ------
        InputError
            A file is missing or damaged.
        """
        return [self._pixels(int(row)) for row in rows]

    def _pixels(self, row: int) -> ImageArray:
        try:
            return rgb_array(decode(self.content(row)).upright())
        except (ImageFileError, OSError) as error:
            reason = str(error).rstrip(".") or "it cannot be read"
            raise InputError(
                self.source, self.names[row], reason, "Mend the file, or leave the image out."
            ) from error
