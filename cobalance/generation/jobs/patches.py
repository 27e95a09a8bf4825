"""Groups that a backend can take objects of, to paste them into other images."""

from collections.abc import Collection, Sequence

from cobalance.base import OptionError, Setting
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.backend import BackendPlugin


def needs_patch(backend: str) -> bool:
    """Whether a backend pastes objects of other images."""
    plugin = BACKENDS[backend]
    return isinstance(plugin, BackendPlugin) and plugin.needs_patch


def check_patches(backend: str, groups: Sequence[str], classes: Collection[str]) -> None:
    """Raise OptionError for a group that a backend has no image to take an object from.

    Parameters
    ----------
    backend : str
        A name in `BACKENDS`; for one that pastes nothing there is nothing to check.
    classes : collection of str
        Of the images that are edited: from these alone objects are taken.

    Examples
    --------
    >>> check_patches("patch", ["man", "woman"], {"man", "woman", "dog"})
    >>> check_patches("inpaint", ["darker-skinned"], {"person"})
    """
    if not needs_patch(backend):
        return
    for group in groups:
        if group not in classes:
            present = ", ".join(sorted(classes)) or "none"
            raise OptionError(
                f"The backend {backend} pastes an object of the group that is asked for, from "
                f"another of the images that are edited, and none of these is of the class "
                f"{group!r} (their classes: {present}). Name groups that are classes of these "
                "images, with ",
                Setting("plan.groups"),
                "; or take a recipe that paints, such as gensynth.",
            )
