"""Let this session send files, from when a page has a place for them until it is left."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from cobalance.app.web.server.uploads import CONNECTION_HEADER, UPLOADS
from cobalance.app.web.state.access import require_editor


def accept_uploads() -> None:
    """Let the session send files; to be called before a place for them is drawn.

    Raises
    ------
    NotAllowedError
        The user may not change things.
    """
    require_editor()
    context = get_script_run_ctx()
    if context is not None:
        UPLOADS.admit(context.session_id, st.context.headers.get(CONNECTION_HEADER, ""))


def end_uploads() -> None:
    """Free what the session sent; on pages without a place for files."""
    context = get_script_run_ctx()
    if context is not None:
        UPLOADS.forget(context.session_id)
