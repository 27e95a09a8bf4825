"""The page of who may not look, and the account menu."""

import streamlit as st

from cobalance.app.web.state import access


def require_login() -> None:
    """Return if the user may look; else say so, and end the run.

    Who has yet to log in comes no further than the login page of `cobalance.app.web.server.gate`.
    """
    known = access.user()
    if known is None:
        st.stop()
    if known.may_look:
        return
    _, middle, _ = st.columns([1, 2, 1])
    with middle.container(border=True):
        st.markdown("## cobalance", text_alignment="center")
        st.text(f"You are logged in as {known.name}, who may not see this app.")
        st.caption(
            "Ask its operator to add you to COBALANCE_VIEWERS."
            if known.is_proven
            else access.UNPROVEN
        )
        st.button("Log out", on_click=st.logout, width="stretch")
    st.stop()


def account() -> None:
    """Draw the account menu; nothing without logins."""
    known = access.user()
    if known is None or not known.name:
        return
    with st.popover(":material/account_circle:", help="Your account"):
        st.text(known.name)
        st.caption("Editor." if known.may_edit else "Viewer: read only.")
        st.button("Log out", on_click=st.logout, width="stretch")
