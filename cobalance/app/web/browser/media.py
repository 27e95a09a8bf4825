"""Pictures as addresses that a browser may ask for, as long as a page shows them."""

import base64

import streamlit as st
from streamlit import runtime

from cobalance.app.web.pictures.thumbnails import Picture


def media_url(picture: Picture, place: str) -> str:
    """The address of a picture, for this person's session alone, as `st.image` makes one.

    Parameters
    ----------
    place : str
        Where on the page it is: a picture that takes the place of another one frees it.
    """
    if not runtime.exists():
        return f"data:image/jpeg;base64,{base64.b64encode(picture.data).decode()}"
    address = runtime.get_instance().media_file_mgr.add(picture.data, "image/jpeg", place)
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}{address}" if base else address
