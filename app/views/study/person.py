"""Who answers a study: whoever is logged in, else the name that they choose."""

import streamlit as st

from app.views.state.access import UNPROVEN, NotAllowedError, user
from app.views.state.url import in_url
from graph.studies.reading import Study

PERSON = "person"  # the query parameter


def person_of(study: Study) -> str | None:
    """The person of a study who is at the page, None for nobody; draws a choice without logins."""
    known = user()
    if known is not None and known.name:
        person = _by_address(study, known.address)
        if person is None:
            st.text(
                f"You are logged in as {known.name}, who is not among the people of this study."
            )
            if not known.is_proven:
                st.caption(UNPROVEN)
        return person
    if st.session_state.get(PERSON) not in (None, *study.people):
        del st.session_state[PERSON]  # of another study
    chosen: str | None = st.selectbox(
        "You are",
        study.people,
        index=None,
        placeholder="Choose your name",
        **in_url(PERSON),
        width=320,
    )
    return chosen


def require_person(study: Study, person: str) -> None:
    """Raise unless the user may answer as a person; to be called where an answer is written.

    Raises
    ------
    NotAllowedError
        They are logged in as somebody else, or not at all.
    """
    known = user()
    if known is None or (known.name and _by_address(study, known.address) != person):
        raise NotAllowedError("You are not among the people of this study. Ask who runs it.")


def _by_address(study: Study, address: str) -> str | None:
    """The person with an address, in whichever case it is written; None for nobody."""
    people = {person.casefold(): person for person in study.people}
    return people.get(address.casefold()) if address else None
