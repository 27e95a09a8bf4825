"""Who is using the app, and what they may do.

Without COBALANCE_AUTH_FILE nobody logs in, and everybody who reaches the app may change things:
the server listens on loopback then, unless told otherwise. With it, every session logs in;
COBALANCE_EDITORS may change things, and the others may look.

What a page shows or hides is for people. What counts is `require_editor`, called where a write
begins, in the run of the person who asks for it.
"""

from dataclasses import dataclass

import streamlit as st

from app.server.login import is_listed, read_login
from app.views.state import session
from graph.errors import CobalanceError


class NotAllowedError(CobalanceError):
    """A change by somebody who may only look."""


@dataclass(frozen=True)
class User:
    """Whoever this session belongs to.

    Parameters
    ----------
    name : str
        To show; empty where nobody logs in.
    may_look, may_edit : bool
        Whether they may see anything, and whether they may change anything.
    """

    name: str
    may_look: bool
    may_edit: bool


def user() -> User | None:
    """The user of this session; None where they have yet to log in."""
    settings = session.settings()
    if settings.cobalance_auth_file is None:
        return User("", may_look=True, may_edit=True)
    known = st.user.to_dict()
    if known.get("is_logged_in") is not True:
        return None
    email = str(known.get("email") or "")
    # An address that the provider itself has not verified may be anybody's.
    proven = email if known.get("email_verified", True) in (True, "true") else ""
    may_edit = is_listed(proven, settings.cobalance_editors)
    viewers = settings.cobalance_viewers
    return User(
        email or str(known.get("name") or "unknown"),
        may_look=may_edit or not viewers or is_listed(proven, viewers),
        may_edit=may_edit,
    )


def may_edit() -> bool:
    """Whether the user may change things."""
    known = user()
    return known is not None and known.may_edit


def require_editor() -> None:
    """Raise unless the user may change things; to be called where a write begins.

    Raises
    ------
    NotAllowedError
        They may not.
    """
    if not may_edit():
        raise NotAllowedError(
            "You may look at everything here and change nothing. Ask whoever runs this app to add "
            "you to COBALANCE_EDITORS."
        )


def require_login() -> None:
    """Go on for those who may look; else draw a page to log in, or out, and end the run."""
    known = user()
    if known is not None and known.may_look:
        return
    _, middle, _ = st.columns([1, 2, 1])
    with middle.container(border=True):
        st.markdown("## cobalance", text_alignment="center")
        if known is None:
            _log_in()
        else:
            st.text(f"You are logged in as {known.name}, who may not see this app.")
            st.caption("Ask whoever runs it to add you to COBALANCE_VIEWERS.")
            st.button("Log out", on_click=st.logout, width="stretch")
    st.stop()


def _log_in() -> None:
    st.markdown("Log in to see the datasets.", text_alignment="center")
    file = session.settings().cobalance_auth_file
    for provider in read_login(file).providers if file is not None else ():
        st.button(
            "Log in" if provider is None else f"Log in with {provider}",
            key=f"_log_in {provider}",
            type="primary",
            width="stretch",
            on_click=st.login,
            args=(provider,),
        )


def account() -> None:
    """Draw a menu that says who is logged in, as what, and logs out; nothing without logins."""
    known = user()
    if known is None or not known.name:
        return
    with st.popover(":material/account_circle:", help="Your account"):
        st.text(known.name)
        st.caption("May change things." if known.may_edit else "May look, and change nothing.")
        st.button("Log out", on_click=st.logout, width="stretch")
