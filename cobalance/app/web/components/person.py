"""Who answers a study or an audit: whoever is logged in, else the name that they choose."""

from collections.abc import Sequence

import streamlit as st

from cobalance.app.web.state.access import UNPROVEN, NotAllowedError, user
from cobalance.app.web.state.url import in_url

PERSON = "person"  # the query parameter


def person_of(people: Sequence[str], what: str) -> str | None:
    """The one of some people who is at the page, None for nobody; draws a choice without logins.

    Parameters
    ----------
    what : str
        What they answer, such as study.
    """
    known = user()
    if known is not None and known.name:
        person = _by_address(people, known.address)
        if person is None:
            st.text(
                f"You are logged in as {known.name}, who is not among the people of this {what}."
            )
            if not known.is_proven:
                st.caption(UNPROVEN)
        return person
    chosen: str | None = st.selectbox(
        "You are",
        people,
        index=None,
        placeholder="Choose your name",
        **in_url(PERSON, people),
        width=320,
    )
    return chosen


def require_person(people: Sequence[str], person: str, what: str) -> None:
    """Raise unless the user may answer as a person; to be called where an answer is written.

    Raises
    ------
    NotAllowedError
        They are logged in as somebody else, or not at all.
    """
    known = user()
    if known is None or (known.name and _by_address(people, known.address) != person):
        raise NotAllowedError(f"You are not among the people of this {what}. Ask who runs it.")


def _by_address(people: Sequence[str], address: str) -> str | None:
    """The person with an address, in whichever case it is written; None for nobody."""
    known = {person.casefold(): person for person in people}
    return known.get(address.casefold()) if address else None
