"""Images of a clique: a grid for each class, side by side, with boxes and masks, and a lightbox."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from app.concept_graph.colors import class_colors
from app.image_grid.component import GridImage, OpenedImage, image_grid
from app.pictures.thumbnails import GalleryImage, ImageFiles
from app.views.state import session, url
from app.views.state.session import CurrentDataset
from app.views.state.url import came_back, in_url, number_in_url
from app.views.widgets.tables import draw_table, grid
from app.views.widgets.theme import escape, shorten
from app.views.widgets.wording import in_app
from graph.queries.clique_images import read_clique_images, read_image_concepts
from ingest.concepts.plurals import counted
from ingest.images.regions import read_regions

MOST_CLASSES = 4
PER_PAGE = (24, 48, 100)
THUMBNAIL_PX = 400
LIGHTBOX_PX = 2400
"""The longer side of what the lightbox shows; larger images are scaled down to it."""
OPENED = "image"  # the parameter of the URL with the id of the image in the lightbox
_BOXES = "boxes"
_OF = "_gallery_of"  # the clique that was shown last


@dataclass(frozen=True)
class _Look:
    """How the images of all classes are shown."""

    per_page: int
    row_px: int
    boxes: bool


def image_files() -> ImageFiles:
    """The image files that the settings allow to be shown."""
    settings = session.settings()
    return _image_files(settings.image_roots(), settings.cobalance_cache / "thumbnails")


@st.cache_resource
def _image_files(roots: tuple[str, ...], cache: Path) -> ImageFiles:
    return ImageFiles(roots, cache, words=in_app)


def draw(
    current: CurrentDataset,
    clique: tuple[str, ...],
    counts: Mapping[str, int],
    class_name: str | None = None,
) -> None:
    """Draw the images of a clique: of one class, or of all classes side by side.

    Parameters
    ----------
    counts : mapping
        Images of the clique in each class.
    """
    _begin(current, clique)
    look = _look(clique, [*counts], class_name)
    most = sorted(counts, key=counts.__getitem__, reverse=True)[:MOST_CLASSES]
    names = [class_name] if class_name else most
    if len(names) < len(counts) and not class_name:
        st.caption(f"The {MOST_CLASSES} classes with most of them; choose another above.")
    for place, name in zip(grid(len(names), min(len(names), 2)), names, strict=True):
        with place:
            _one_class(current, clique, name, counts[name], look)


def _begin(current: CurrentDataset, clique: tuple[str, ...]) -> None:
    """Show the first pages of a clique, and no image of another, unless the URL says which."""
    known = st.session_state.get(_OF)
    st.session_state[_OF] = clique
    if known not in (None, clique) and not came_back():
        url.write(OPENED, [])
        _show_first_pages(current)


def _show_first_pages(current: CurrentDataset) -> None:
    for name in current.class_sizes:
        if (key := _page_key(current, name)) in st.session_state:
            st.session_state[key] = 1


def strip(
    current: CurrentDataset, clique: tuple[str, ...], class_name: str, most: int, row_px: int
) -> None:
    """Draw the first images of a clique in a class, `most` of them; a click opens the gallery."""
    found = current.read(read_clique_images, clique, class_name, skip=0, limit=most)
    if found.empty or (why_not := _no_files(found)) is not None:
        st.caption("No images." if found.empty else why_not)
        return

    def open_in_gallery(name: str | None) -> None:
        if name is not None:
            st.session_state[_OF] = clique
            _show_first_pages(current)
            url.show_images(clique)
            url.write(OPENED, [name])

    image_grid(
        _Found(current, clique, class_name, found).grid_images(),
        key=f"_strip {class_name} {clique}",
        label=f"First images of {class_name} with {', '.join(clique)}",
        row_px=row_px,
        overlay=st.session_state.get(_BOXES, True),
        opened=None,
        has_lightbox=False,
        on_open=open_in_gallery,
        on_overlay=lambda _: None,
    )


def _page_key(current: CurrentDataset, class_name: str) -> str:
    return f"images_page_{list(current.class_sizes).index(class_name) + 1}"


def _look(clique: tuple[str, ...], classes: Sequence[str], class_name: str | None) -> _Look:
    """Draw what is shown, and how."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = [None, *classes]
        key = f"_gallery_class {clique} {class_name}"
        st.selectbox(
            "Class",
            names,
            index=names.index(class_name),
            format_func=lambda name: "All classes" if name is None else shorten(name, 40),
            key=key,
            on_change=lambda: url.show_images(clique, st.session_state[key]),
            width=160,
        )
        per_page = st.selectbox(
            "Images a class", PER_PAGE, **number_in_url("images_per_page"), width=120
        )
        row_px = st.slider(
            "Height", 80, 240, 120, 20, format="%d px", **number_in_url("images_px"), width=180
        )
        boxes = st.toggle("Boxes and outlines", value=True, **in_url(_BOXES))
    return _Look(per_page or PER_PAGE[0], row_px, boxes)


def _one_class(
    current: CurrentDataset, clique: tuple[str, ...], class_name: str, total: int, look: _Look
) -> None:
    kept = min(total, current.state.sample or total)
    of_all = "" if kept == total else f" · a sample of {kept:,}"
    size = current.class_sizes.get(class_name, 0)
    share = f" · {total / size:.1%} of the class" if size else ""
    st.markdown(f"**{escape(class_name)}** · {counted(total, 'images')}{share}{of_all}")
    if not total:
        st.caption("No image of this class shows them together.")
        return
    key = _page_key(current, class_name)
    page: int | None = 1
    if kept > look.per_page:
        page = st.pagination(-(-kept // look.per_page), **number_in_url(key))
    skip = ((page or 1) - 1) * look.per_page
    found = current.read(read_clique_images, clique, class_name, skip=skip, limit=look.per_page)
    why_not = _no_files(found)
    if why_not is not None:
        st.caption(why_not)
        draw_table(found[["id"]], 400, {"id": "Image"}, alt=f"Images of {class_name} by name")
        return
    shown = _Found(current, clique, class_name, found)
    image_grid(
        shown.grid_images(),
        key=f"_images {class_name}",
        label=f"Images of {class_name}",
        row_px=look.row_px,
        overlay=look.boxes,
        opened=shown.opened(),
        on_open=lambda name: url.write(OPENED, [] if name is None else [name]),
        on_overlay=lambda boxes: st.session_state.update({_BOXES: boxes}),
    )


def _no_files(found: pd.DataFrame) -> str | None:
    """Why there are no pictures to show; None if there may be some."""
    if found["uri"].isna().all():
        return "Names only: the annotations have no image addresses."
    if not session.settings().image_roots():
        return (
            "Names only: no folder with the files is known. Editors add one under "
            "*Image folders* on the Datasets page."
        )
    return None


class _Found:
    """Images of a clique that a page shows, with the regions of its concepts."""

    def __init__(
        self,
        current: CurrentDataset,
        clique: tuple[str, ...],
        class_name: str,
        found: pd.DataFrame,
    ) -> None:
        folder = session.settings().regions_folder()
        regions = read_regions(folder, current.name, found["id"].tolist())
        self._current, self._class_name = current, class_name
        self._regions = regions[regions["concept"].isin(clique)]
        self._colors = dict.fromkeys(clique, class_colors(list(current.class_sizes))[class_name])
        self._uris = {
            row["id"]: row["uri"] if isinstance(row["uri"], str) else None
            for row in found.to_dict("records")
        }

    def grid_images(self) -> list[GridImage]:
        """All of them, small."""
        listed = [GalleryImage(name, uri) for name, uri in self._uris.items()]
        pictures = image_files().grid(listed, self._regions, self._colors, THUMBNAIL_PX)
        return [
            GridImage(image.id, f"{image.id}: {self._class_name}", plain, drawn)
            for image, (plain, drawn) in zip(listed, pictures, strict=True)
        ]

    def opened(self) -> OpenedImage | None:
        """The one that the URL names, as large as it is."""
        name = next((name for name in url.texts(OPENED) if name in self._uris), None)
        if name is None:
            return None
        files, uri = image_files(), self._uris[name]
        own = self._regions[self._regions["id"] == name]
        plain = files.thumbnail(uri, LIGHTBOX_PX)
        drawn = None if own.empty else files.with_regions(uri, own, self._colors, LIGHTBOX_PX)
        shows = self._current.read(read_image_concepts, name)
        return OpenedImage(name, f"{self._class_name}: {', '.join(shows)}", plain, drawn)
