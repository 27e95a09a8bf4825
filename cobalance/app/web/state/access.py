"""The user of a session and their access rights, uploads included.

Without COBALANCE_AUTH_FILE nobody logs in, and everybody who reaches the app may change things:
the server then listens on loopback, unless configured otherwise. With it, every session logs in;
COBALANCE_EDITORS may change things, and the others may look.

Hiding a button is convenience. What protects is `require_editor`, called by every background task
and where else a write begins, in the run of the user who starts it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from cobalance.app.web.server.streamlit_internals import session_id
from cobalance.app.web.server.uploads import CONNECTION_HEADER, UPLOADS
from cobalance.app.web.state import session
from cobalance.base import CobalanceError
from cobalance.workflows import Settings, import_roots, is_listed, is_loopback

UNPROVEN = (
    "Your login provider does not say that your e-mail address is verified. Have it verified "
    "there, or ask the operator of this app, who can set COBALANCE_TRUST_EMAIL if the provider "
    "never says so."
)
"""Why somebody is not on a list, whatever their address."""


class NotAllowedError(CobalanceError):
    """A change by somebody who may only look."""


@dataclass(frozen=True)
class User:
    """The user of a session; the name is empty where nobody logs in.

    Without a proven address nobody is on the list of editors or viewers; `address` is then empty.
    """

    name: str
    may_look: bool
    may_edit: bool
    is_proven: bool = True
    address: str = ""


def user() -> User | None:
    """The user of this session; None where they have yet to log in."""
    settings = session.settings()
    if settings.cobalance_auth_file is None:
        return User("", may_look=True, may_edit=True)
    claims = st.user.to_dict()
    if claims.get("is_logged_in") is not True:
        return None

    # An address that the provider does not vouch for is on no list.
    email = str(claims.get("email") or "")
    is_proven = _is_verified(claims, settings)
    address = email if is_proven else ""
    may_edit = is_listed(address, settings.cobalance_editors)
    viewers = settings.cobalance_viewers
    return User(
        email or str(claims.get("name") or "unknown"),
        may_look=may_edit or not viewers or is_listed(address, viewers),
        may_edit=may_edit,
        is_proven=is_proven,
        address=address,
    )


def user_name() -> str:
    """The user's name, to record with their changes; empty without a login."""
    person = user()
    return "" if person is None else person.name


def _is_verified(claims: Mapping[str, Any], settings: Settings) -> bool:
    """Whether the provider vouches for the address: one that it does not may be anybody's.

    `OpenID Connect Core 1.0`_, section 5.1, leaves it to providers to send the claim.

    .. _OpenID Connect Core 1.0: https://openid.net/specs/openid-connect-core-1_0.html
    """
    claim = claims.get("email_verified")
    # Some providers send the claim as text.
    return claim in (True, "true") or (claim is None and settings.cobalance_trust_email)


def may_edit() -> bool:
    """Whether the user may change things."""
    person = user()
    return person is not None and person.may_edit


def advice_or_unproven(advice: str) -> str:
    """The advice to whom a list lacks; `UNPROVEN` where it would not help."""
    person = user()
    if person is not None and not person.is_proven:
        return UNPROVEN
    return advice


def require_editor() -> None:
    """Raise unless the user may change things; to be called where a write begins.

    Raises
    ------
    NotAllowedError
        They may not.
    """
    if not may_edit():
        advice = "Ask the operator of this app to add you to COBALANCE_EDITORS."
        raise NotAllowedError(f"You have read-only access. {advice_or_unproven(advice)}")


def accept_uploads() -> None:
    """Let the session send files; to be called before a place for them is drawn.

    Raises
    ------
    NotAllowedError
        The user may not change things.
    """
    require_editor()
    session = session_id()
    if session is not None:
        UPLOADS.admit(session, st.context.headers.get(CONNECTION_HEADER, ""))


def import_folders() -> tuple[Path, ...]:
    """The folders that annotations and images may be loaded from, as `import_roots` has them."""
    address = st.get_option("server.address")
    # A proxy on this machine lets others come; --host has its name.
    if not is_loopback(st.get_option("browser.serverAddress")):
        address = None
    return import_roots(session.settings(), address)


def end_uploads() -> None:
    """Free the session's files and accept no more."""
    session = session_id()
    if session is not None:
        UPLOADS.forget(session)
