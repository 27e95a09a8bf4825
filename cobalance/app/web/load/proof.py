"""Thumbnails of images to import, with advice on missing image files."""

import streamlit as st

from cobalance.app.web.components.images.shown_images import image_files
from cobalance.app.web.load import image_folders
from cobalance.app.web.pictures.thumbnails import GalleryImage, Picture
from cobalance.app.web.state import session
from cobalance.app.web.widgets.theme import bold, escape, shorten
from cobalance.graph.safe_text import mask_credentials
from cobalance.workflows.concept_graph.colors import class_colors
from cobalance.workflows.load.image_places import missing_files
from cobalance.workflows.load.proof import Proof, ProofImage

_PICTURE_PX = 164
_THUMBNAIL_PX = 320
_CONCEPTS = 4


def draw(proof: Proof) -> None:
    """Draw some images as they were read, with their boxes, class and concepts."""
    st.markdown("##### As they were read", help="Images of each class, from first to last.")
    if all(image.uri is None for image in proof.images):
        st.caption("The annotations name no picture files, so that no images are shown.")
        return
    uris = [image.uri for image in proof.images if image.uri is not None]
    missing = missing_files(uris, session.settings().folders().image_roots())
    if missing:
        _missing(missing, len(uris))
    found = [image for image in proof.images if image.uri is not None and image.uri not in missing]
    names = {concept for image in proof.images for concept in image.concepts}
    pictures = image_files().gallery(
        [GalleryImage(image.id, image.uri) for image in found],
        proof.regions,
        class_colors([*names, *(image.class_name for image in proof.images)]),
        _THUMBNAIL_PX,
    )
    with st.container(horizontal=True):
        for image, picture in zip(found, pictures, strict=True):
            with st.container(width=_PICTURE_PX, gap="xsmall"):
                _one(image, picture)


def _one(image: ProofImage, picture: Picture) -> None:
    said = ", ".join(image.concepts) or "no concept"
    st.image(picture.data, width="stretch", alt=f"{image.id}: {image.class_name}; {said}")
    more = len(image.concepts) - _CONCEPTS
    concepts = ", ".join(escape(shorten(name, 24)) for name in image.concepts[:_CONCEPTS])
    st.markdown(bold(image.class_name, 24))
    st.caption((concepts or "no concept") + (f" and {more} more" if more > 0 else ""))


def _missing(uris: list[str], total: int) -> None:
    """Say which files are not found and where they were looked for, and offer more places."""
    places = [mask_credentials(root) for root in session.settings().folders().image_roots()]
    where = f"Looked in {', '.join(map(bold, places))}." if places else "No folder is known yet."
    st.warning(
        f"{len(uris)} of these {total} image files are not found, such as {bold(uris[0])}. {where} "
        "Add the folder that they are in, or load the annotations without pictures.",
        icon=":material/broken_image:",
    )
    image_folders.add_form("_proof", uris)
