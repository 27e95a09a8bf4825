"""Results of a check: counts, changes, and images left out."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cobalance.app.web.components import image_files
from cobalance.app.web.page.load import image_folders
from cobalance.app.web.pictures.thumbnails import Picture
from cobalance.app.web.state import import_folders, session
from cobalance.app.web.widgets import (
    bold,
    count_column,
    draw_table,
    escape,
    in_app,
    shorten,
    text_column,
)
from cobalance.base import inflect, mask_credentials
from cobalance.ingest import PackedPictures, fields_table, skipped_records
from cobalance.workflows import (
    CheckedImport,
    ProofImage,
    Source,
    Uploads,
    class_colors,
    missing_files,
    roots_to_load,
)

_OFFERED = re.compile(r': (?!classes are)([^:]*): the path pattern is "(.*)"$')


def ask_agreement(checked: CheckedImport, key: str) -> bool:
    """Warn of a load that leaves out many images; return whether the person agrees."""
    total, reasons = checked.count_left_out()
    if not total:
        return True

    all_images = total + len(checked.annotations.images)
    st.warning(
        f"{total:,} of {all_images:,} would be left out: {escape('; '.join(reasons))}.",
        icon=":material/warning:",
    )
    return st.checkbox(f"Load without these {total:,}", key=f"_import_without {key}")


def draw(checked: CheckedImport, read_as: Callable[[str], None]) -> None:
    """Draw notes, counts, changes and omissions of a checked import.

    Other ways to read the images' folders are buttons, which call `read_as` with a path pattern.
    """
    annotations = checked.annotations
    for note in annotations.notes:
        _draw_note(note, read_as)

    classes, concepts = checked.classes, checked.concepts
    _counts(classes.to_numpy(), [f"Classes ({len(classes):,})", "Images", "No concept"], 150)
    _counts(concepts.to_numpy(), [f"Concepts ({len(concepts):,})", "Images"], 220)
    _draw_totals(checked)

    if annotations.fields:
        st.markdown("##### What the columns become")
        words = fields_table(annotations.fields).rename(columns=str.capitalize)
        st.dataframe(words, hide_index=True, height="auto")
    if annotations.skipped:
        st.markdown("##### Malformed records left out")
        skipped = skipped_records(annotations, words=in_app)
        st.dataframe(skipped.rename(columns=str.capitalize), hide_index=True, height="auto")

    with st.expander("The first images", icon=":material/table_rows:"):
        # A column without a value takes room from the others.
        images = checked.first.dropna(axis=1, how="all").fillna("")
        st.dataframe(
            images.rename(columns=str.capitalize),
            hide_index=True,
            column_config={"Concepts": st.column_config.ListColumn(width="large")},
        )


def _draw_note(note: str, read_as: Callable[[str], None]) -> None:
    """Draw a note; one that names another path pattern has a button for it."""
    offer = _OFFERED.search(note)
    with st.container(horizontal=True, vertical_alignment="center"):
        if offer is None:
            st.caption(escape(note))
            return

        reading, pattern = offer.groups()
        st.button(f"Read as {escape(pattern)}", on_click=read_as, args=(pattern,))
        st.caption(escape(reading))


def _draw_totals(checked: CheckedImport) -> None:
    """Draw how many images, mentions and faults the files have, and how the dataset changes."""
    annotations, changes = checked.annotations, checked.changes
    set_aside = [(f"Set aside: {reason}", n) for reason, n in annotations.set_aside.items()]
    _counts(
        [
            ("Images to load", len(annotations.images)),
            ("of these without a concept", int(checked.classes["without concept"].sum())),
            ("Mentions of concepts", len(annotations.mentions)),
            *set_aside,
            ("Malformed records left out", len(annotations.skipped)),
        ],
        ["In the files", "Count"],
        320,
    )

    _counts(
        [
            ("New images", changes.created),
            ("Changed images", changes.updated),
            ("Images as before", changes.unchanged),
            ("Deleted images", changes.deleted),
            ("Other images, which stay", changes.kept),
        ],
        ["In the dataset, after loading", "Count"],
        320,
    )


def _counts(rows: Any, columns: list[str], name_width: int) -> None:
    """Draw a table with a name and numbers in each row, the names of fixed width."""
    frame = pd.DataFrame(rows, columns=columns).convert_dtypes()
    name = text_column(width=name_width)
    numbers = dict.fromkeys(columns[1:], count_column(width=90))
    draw_table(frame, 460, {columns[0]: name, **numbers})


# More than that is kept only if a person agrees.
_MUCH_ROOM_BYTES = 1_000_000_000
_PICTURE_PX = 124
_THUMBNAIL_PX = 320
_CONCEPTS = 4


def draw_proof(
    checked: CheckedImport, source: Source, file: Path | None, warnings: DeltaGenerator
) -> None:
    """Draw some images of a file as they were read, with their boxes, class and concepts.

    Which of their files are not found is said in the place for warnings.
    """
    st.markdown("##### As they were read", help="Images of each class, from first to last.")
    proof, dataset = checked.proof, checked.request.dataset
    uris = [image.uri for image in proof.images if image.uri is not None]
    if not uris:
        warnings.caption("The annotations name no picture files, so that no images are shown.")
        return

    folders = session.settings().folders()
    roots = roots_to_load(folders, dataset, file, import_folders())
    if isinstance(source, Uploads):
        roots = (str(source.thumbnails), *roots)
    missing = missing_files(uris, roots)
    if missing:
        with warnings:
            _warn_missing(missing, len(uris), roots, dataset)

    images = [image for image in proof.images if image.uri not in (None, *missing)]
    # Of all images, so that a colour stays as files are found.
    names = {name for image in proof.images for name in image.concepts}
    class_names = [image.class_name for image in proof.images]
    pictures = image_files(roots).grid(
        {image.id: image.uri for image in images},
        proof.regions,
        class_colors([*names, *class_names]),
        _THUMBNAIL_PX,
        labelled=True,
    )
    with st.container(horizontal=True):
        for image, (plain, with_boxes) in zip(images, pictures, strict=True):
            with st.container(width=_PICTURE_PX, gap="xsmall"):
                _draw_image(image, with_boxes or plain)


def ask_room(pictures: PackedPictures, key: str) -> bool:
    """Say how much room uploaded pictures take; return whether to keep them."""
    if not pictures.paths:
        return False

    room = f"{inflect(len(pictures.addresses), 'pictures')}, {pictures.size_bytes / 1e6:,.1f} MB"
    if pictures.size_bytes > _MUCH_ROOM_BYTES:
        return st.checkbox(f"Keep the {room}, with the dataset", key=f"_import_keep {key}")
    st.caption(f":material/image: {room}, stay with the dataset until it is dropped.")
    return True


def _draw_image(image: ProofImage, picture: Picture) -> None:
    """Draw an image with its class and its first concepts."""
    concepts = ", ".join(image.concepts) or "no concept"
    st.image(picture.data, width="stretch", alt=f"{image.id}: {image.class_name}; {concepts}")
    st.markdown(bold(image.class_name, 24))

    names = [escape(shorten(name, 24)) for name in image.concepts[:_CONCEPTS]]
    caption = ", ".join(names) or "no concept"
    more = len(image.concepts) - _CONCEPTS
    if more > 0:
        caption += f" and {more} more"
    st.caption(caption)


def _warn_missing(uris: list[str], total: int, roots: Sequence[str], dataset: str) -> None:
    """Say which files are not found and where they were looked for, and offer more places."""
    searched = [root for root in roots if not root.endswith("thumbnails")]
    where = "No folder is known yet."
    if searched:
        places = ", ".join(bold(mask_credentials(root)) for root in searched)
        where = f"Looked in {places}."

    st.warning(
        f"{len(uris)} of these {total} image files are not found, such as {bold(uris[0])}. {where} "
        "Send them as a ZIP file beside the annotations, or add the folder that they are in.",
        icon=":material/broken_image:",
    )
    image_folders.add_form("_proof", uris, dataset)
