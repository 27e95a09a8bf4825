"""Tags and notes of a dataset's images, from Python."""

from collections.abc import Sequence

import pandas as pd

from cobalance.base import Progress
from cobalance.graph.database import GraphStore
from cobalance.graph.tags import (
    TagChanges,
    TagRole,
    apply_tags,
    delete_tag,
    images_of_tag,
    list_notes,
    list_tags,
    set_role,
    tag_images,
    untag_images,
    write_note,
)
from cobalance.notebook.remedies import SpeaksPython


class Tagged(SpeaksPython):
    """Tags and notes of a dataset's images."""

    graph: GraphStore
    name: str
    progress: Progress

    def tag(
        self, tag: str, images: Sequence[str], *, role: TagRole | None = None, by: str = ""
    ) -> int:
        """Give images a tag; return how many have been named.

        Parameters
        ----------
        tag : str
            Its name; made if it does not exist.
        images : sequence of str
            Ids.
        role : {"tag", "concept", "exclude"}, optional
            What the tag does: nothing more, its images show it as a concept, or they are left out
            of counts and exports. Counts follow with the next `mine`.
        by : str
            Who says so, for others to read.

        Raises
        ------
        OptionError
            The dataset has no such image, or no tag can have this name; nothing is written.
        """
        tagged = tag_images(self.graph, self.name, tag, list(images), by=by)
        if role is not None:
            set_role(self.graph, self.name, tag, role)
        return tagged

    def untag(self, tag: str, images: Sequence[str] | None = None) -> None:
        """Take a tag from images, or delete it if none are given; its effects are undone."""
        if images is None:
            delete_tag(self.graph, self.name, tag)
        else:
            untag_images(self.graph, self.name, tag, list(images))

    def tags(self) -> pd.DataFrame:
        """A row a tag: ``tag``, ``role``, ``images``, ``shown``, ``left_out``, who and when."""
        return list_tags(self.graph, self.name)

    def tagged(self, tag: str) -> pd.DataFrame:
        """A row an image with a tag: ``image``, ``class``, ``left_out``, who and when."""
        return images_of_tag(self.graph, self.name, tag)

    def apply_tags(self) -> TagChanges:
        """Apply tags to counts, as `mine` does first."""
        return apply_tags(self.graph, self.name, progress=self.progress)

    def note(self, image: str, text: str, *, by: str = "") -> None:
        """Replace the note on an image; an empty text deletes it."""
        write_note(self.graph, self.name, image, text, by=by)

    def notes(self) -> pd.DataFrame:
        """A row a note: ``image``, ``note``, who and when."""
        return list_notes(self.graph, self.name)
