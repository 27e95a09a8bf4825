"""The Cypher editor as a Streamlit component: a field of a form that colours and completes.

The browser keeps what is typed, and a form's button sends it, as with Streamlit's own fields. The
editor's code and words are sent once, and only to pages with an editor.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from cobalance.app.web.browser.browser_part import Exchange, draw_part, no_callback
from cobalance.graph import editor_words

# The longest text that is taken from a browser.
MOST_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class Mistake:
    """An error in a text, at an offset in characters; in another text nothing is underlined."""

    text: str
    offset: int
    message: str


def cypher_editor(
    text: str,
    *,
    key: str,
    label: str,
    parameters: Sequence[str] = (),
    mistake: Mistake | None = None,
) -> str:
    """Draw the editor; return its text.

    In a form, which it is made for, that is what was written when the form was submitted last.

    Parameters
    ----------
    text : str
        The initial text, and a new one whenever it differs from that of the run before. Passing
        back what was returned keeps what a person writes meanwhile.
    parameters : sequence of str
        Names to complete after ``$``.
    mistake : Mistake, optional
        Underlined as long as the text is the one that it is about.
    """
    memory = f"{key}.written"
    report = (st.session_state.get(key) or {}).get("written")
    written = next_text(st.session_state.get(memory), plain_lines(text), report)

    # Offsets in another text would underline anything.
    underlined = None
    if mistake is not None and mistake.text == written.effective:
        underlined = {"offset": mistake.offset, "message": mistake.message}
    draw_part(
        "cypher_editor",
        key,
        {
            "text": written.effective,
            "request": written.request,
            "label": label,
            "parameters": list(parameters),
            "mistake": underlined,
        },
        sent_once=editor_words(),
        on_written_change=no_callback,
    )
    st.session_state[memory] = written
    return written.effective


def next_text(before: Exchange[str] | None, wanted: str, report: object) -> Exchange[str]:
    """Decide the text of this run.

    Parameters
    ----------
    report : object
        The browser's last report: ``{"text": "RETURN 1", "request": 3}``, or None. Not trusted.
    """
    request = before.request if before else 0
    # What the person wrote, passed back, is no new request.
    if before and wanted not in (before.wanted, before.effective):
        request += 1

    text = wanted
    if isinstance(report, dict) and report.get("request") == request:
        reported = report.get("text")
        if isinstance(reported, str) and len(reported) <= MOST_CHARACTERS:
            text = plain_lines(reported)
    return Exchange(request, wanted, text)


def plain_lines(text: str) -> str:
    r"""Normalize line ends to the browser's, so that offsets agree.

    Examples
    --------
    >>> plain_lines("one\r\ntwo\r")
    'one\ntwo\n'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")
