"""The login page, and the account menu."""

import streamlit as st

from app.views.state import access


def require_login() -> None:
    """Return if the user may look; else draw the login page, and end the run."""
    known = access.user()
    if known is not None and known.may_look:
        return
    _, middle, _ = st.columns([1, 2, 1])
    with middle.container(border=True):
        st.markdown("## cobalance", text_alignment="center")
        if known is None:
            _log_in()
        else:
            st.text(f"You are logged in as {known.name}, who may not see this app.")
            st.caption(
                "Ask its operator to add you to COBALANCE_VIEWERS."
                if known.is_proven
                else access.UNPROVEN
            )
            st.button("Log out", on_click=st.logout, width="stretch")
    st.stop()


def _log_in() -> None:
    st.markdown("Log in to see the datasets.", text_alignment="center")
    for provider in access.login_providers():
        st.button(
            "Log in" if provider is None else f"Log in with {provider}",
            key=f"_log_in {provider}",
            type="primary",
            width="stretch",
            on_click=st.login,
            args=(provider,),
        )


def account() -> None:
    """Draw the account menu; nothing without logins."""
    known = access.user()
    if known is None or not known.name:
        return
    with st.popover(":material/account_circle:", help="Your account"):
        st.text(known.name)
        st.caption("Editor." if known.may_edit else "Viewer: read only.")
        st.button("Log out", on_click=st.logout, width="stretch")
