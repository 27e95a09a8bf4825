"""Gallery of a clique's images: classes side by side, with boxes and masks."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import streamlit as st

from app.concept_graph.colors import class_colors
from app.pictures.thumbnails import GalleryImage, ImageFiles, Picture
from app.views.state import session
from app.views.state.session import CurrentDataset
from app.views.state.url import came_back, number_in_url
from app.views.widgets.tables import grid
from app.views.widgets.theme import escape
from graph.queries.clique_images import read_clique_images
from ingest.images.regions import read_regions

PER_CLASS = 6
MOST_CLASSES = 4
THUMBNAIL_PX = 320
ANCHOR = "images"  # of the heading, to lead to it
_OF = "_gallery_of"  # the clique that was shown last


def image_files() -> ImageFiles:
    """The image files that the settings allow to be shown."""
    settings = session.settings()
    return _image_files(settings.image_roots(), settings.cobalance_cache / "thumbnails")


@st.cache_resource
def _image_files(roots: tuple[str, ...], cache: Path) -> ImageFiles:
    return ImageFiles(roots, cache)


def show(
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
    names = [class_name] if class_name else sorted(counts, key=counts.__getitem__, reverse=True)
    _begin(current, clique)
    title = " + ".join(escape(name) for name in clique)
    st.subheader(f"Images with {title}", anchor=ANCHOR)
    if len(names) > MOST_CLASSES:
        st.caption(f"The {MOST_CLASSES} classes with most of them; click a count for another.")
    for column, name in zip(
        st.columns(min(len(names), MOST_CLASSES)), names[:MOST_CLASSES], strict=True
    ):
        with column:
            _one_class(current, clique, name, counts[name], wide=len(names) == 1)


def _begin(current: CurrentDataset, clique: tuple[str, ...]) -> None:
    """Show the first pages of a clique, unless the URL says which."""
    known = st.session_state.get(_OF)
    st.session_state[_OF] = clique
    if known not in (None, clique) and not came_back():
        for name in current.class_sizes:
            if (key := _page_key(current, name)) in st.session_state:
                st.session_state[key] = 1


def _page_key(current: CurrentDataset, class_name: str) -> str:
    return f"images_page_{list(current.class_sizes).index(class_name) + 1}"


def _one_class(
    current: CurrentDataset, clique: tuple[str, ...], class_name: str, total: int, *, wide: bool
) -> None:
    kept = min(total, current.state.sample or total)
    of_all = "" if kept == total else f" · a sample of {kept:,}"
    st.markdown(f"**{escape(class_name)}** · {total:,} images{of_all}")
    if not total:
        st.caption("No image of this class shows them together.")
        return
    page: int | None = 1
    if kept > PER_CLASS:
        key = _page_key(current, class_name)
        page = st.pagination(-(-kept // PER_CLASS), **number_in_url(key))
    page = page or 1
    skip = (page - 1) * PER_CLASS
    found = current.read(read_clique_images, clique, class_name, skip=skip, limit=PER_CLASS)
    color = class_colors(list(current.class_sizes))[class_name]
    pictures = _pictures(current.name, found, clique, color)
    if pictures is None:
        for name in found["id"]:
            st.text(name)
        return
    for cell, name, picture in zip(
        grid(len(found), PER_CLASS if wide else 2), found["id"], pictures, strict=True
    ):
        with cell:
            st.image(picture.data, width="stretch", alt=f"{name}: {class_name}")
            st.caption(escape(name))


def _pictures(
    dataset: str, found: pd.DataFrame, clique: tuple[str, ...], color: str
) -> list[Picture] | None:
    """Thumbnails with the regions of the clique's concepts; None without image files."""
    settings = session.settings()
    if found["uri"].isna().all() or not settings.image_roots():
        st.caption(
            "Names only: the annotations have no image addresses."
            if found["uri"].isna().all()
            else "Names only: no folder with the files is known. Editors add one under "
            "*Image folders* on the Datasets page."
        )
        return None
    regions = read_regions(settings.regions_folder(), dataset, found["id"].tolist())
    images = [
        GalleryImage(row["id"], row["uri"] if isinstance(row["uri"], str) else None)
        for row in found.to_dict("records")
    ]
    shown = regions[regions["concept"].isin(clique)]
    return list(image_files().gallery(images, shown, dict.fromkeys(clique, color), THUMBNAIL_PX))
