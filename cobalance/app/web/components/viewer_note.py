"""Say to viewers why they cannot do something, and who can."""

import streamlit as st

from cobalance.app.web.state.access import UNPROVEN, may_edit, user


def viewer_note(what: str) -> None:
    """Say who can do something, unless the user may.

    Parameters
    ----------
    what : str
        What editors can do, such as ``delete runs``.
    """
    if may_edit():
        return
    known = user()
    text = f"You may look: only editors can {what}. "
    if known is not None and not known.is_proven:
        text += UNPROVEN
    else:
        text += "Whoever runs this app names them in COBALANCE_EDITORS."
    st.caption(f":material/lock: {text}")
