"""The declaration of a page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page, as the folder that draws it declares it.

    Parameters
    ----------
    title, path, icon : str
        Its name in the menu, its address, and its icon in the menu.
    draw : callable
        Draws it, below the menu. A page that has views of other folders takes them, by title.
    words : tuple of str
        Words of the glossary that the help beside the title explains.
    takes_uploads : bool
        Whether files can be sent on it. Those sent for another page are not kept.
    needs_dataset : bool
        Whether it draws something only once a dataset is loaded.
    part_of : str
        The path of the page of which it is a view; of a page of its own, nothing.
    first_dataset : callable, optional
        Gives the dataset that it opens on, of all; by default it is the first.
    """

    title: str
    path: str
    icon: str
    draw: Callable[..., None]
    words: tuple[str, ...] = ()
    takes_uploads: bool = False
    needs_dataset: bool = True
    part_of: str = ""
    first_dataset: Callable[[Sequence[str]], str] | None = None
