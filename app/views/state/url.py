"""Page state in the URL: a link reproduces the view, and other pages continue with it.

Filters live in widgets that Streamlit itself binds to query parameters. The selected cliques live
here: in the session while the user goes from page to page, and in the URL of each page.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal, NoReturn, TypedDict

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.navigation.page import StreamlitPage

Clique = tuple[str, ...]

COMPARED = "compare_after"  # the dataset on the right of a comparison
CLIQUES = "clique"  # the selected cliques, one parameter each
MOST_NAMES = 100
"""The most concepts of a clique in the URL."""
MOST_NUMBER = 2**53 - 1
"""The largest number in the URL."""
_LEFT_OUT = "_left_out"
_KEPT = "_cliques"
_PAGES = "_pages"


class InUrl(TypedDict):
    """Arguments of a widget whose value is a query parameter."""

    key: str
    bind: Literal["query-params"]


def in_url(key: str) -> InUrl:
    """Arguments of a widget whose value is the query parameter of this name."""
    return {"key": key, "bind": "query-params"}


def number_in_url(key: str) -> InUrl:
    """Arguments of a field of numbers whose value is the query parameter of this name.

    A number that no browser could have written there, such as one of 400 digits, is left out, and
    the page drawn anew: Streamlit would fail on it.
    """
    if not all(map(_is_usual, st.query_params.get_all(key))) and _leave_out(key):
        st.rerun()
    return in_url(key)


def choice_in_url(key: str) -> InUrl:
    """Arguments of a field that always has a choice, which is the query parameter of this name.

    An empty one, by which Streamlit would choose nothing, is left out.
    """
    if "" in st.query_params.get_all(key) and _leave_out(key):
        st.rerun()
    return in_url(key)


class IdInUrl(TypedDict):
    """Arguments of a choice that shows names and has ids in the URL."""

    key: str
    on_change: Callable[[], None]


def id_in_url(key: str, ids: Collection[str]) -> IdInUrl:
    """Arguments of a choice among ids, which is the query parameter of this name.

    Streamlit itself would write what `format_func` makes of the choice. An id of something else,
    such as of another dataset, is left out.
    """
    widget = f"_id_{key}"
    given = st.query_params.get(key)
    if given in ids:
        st.session_state[widget] = given
    elif given is not None:
        del st.query_params[key]
        st.session_state.pop(widget, None)
    if st.session_state.get(widget) not in (None, *ids):
        del st.session_state[widget]

    def write() -> None:
        chosen = st.session_state.get(widget)
        if chosen is not None:
            st.query_params[key] = chosen
        elif key in st.query_params:
            del st.query_params[key]

    return {"key": widget, "on_change": write}


def _is_usual(text: str) -> bool:
    """Whether a text is no number, or one of those that JavaScript counts with exactly."""
    try:
        number = float(text)
    except ValueError:
        return True
    return abs(number) <= MOST_NUMBER  # not so of NaN


def _leave_out(key: str) -> bool:
    """Take a parameter out of the URL, and keep its name for `show_left_out`.

    Returns
    -------
    bool
        Whether it is out: not if a widget wrote it there.
    """
    try:
        del st.query_params[key]
    except StreamlitAPIException:
        return False
    st.session_state.setdefault(_LEFT_OUT, {})[key] = None
    return True


def show_left_out() -> None:
    """Say which parameters of the URL were left out, until `forget_left_out`."""
    names = st.session_state.get(_LEFT_OUT, ())
    if names:
        listed = ", ".join(f"`{name}`" for name in names)
        st.warning(
            f"The address of this page has values that cannot be read, which are left out: "
            f"{listed}. Choose them anew on the page.",
            icon=":material/link_off:",
        )


def rename_parameters(names: Mapping[str, str]) -> None:
    """Rename parameters of an older link, and draw the page anew with them; today's names win.

    Parameters
    ----------
    names : mapping of str to str
        Today's names by earlier ones.
    """
    old = {name: st.query_params.pop(name) for name in names if name in st.query_params}
    for name, value in old.items():
        st.query_params.setdefault(names[name], value)
    if old:
        st.rerun()


def register(pages: Mapping[str, StreamlitPage]) -> None:
    """Register all pages by path, for `go_to`."""
    st.session_state[_PAGES] = pages


def go_to(path: str) -> NoReturn:
    """Switch to another page, and keep the selected cliques."""
    # Not None, which Streamlit refuses where a widget is bound to a parameter in the address.
    st.switch_page(st.session_state[_PAGES][path], query_params={})


def selected_cliques() -> list[Clique]:
    """The cliques that are selected, in the order of their selection."""
    found = (_clique_from_text(text) for text in _texts())
    return list(dict.fromkeys(clique for clique in found if clique is not None))


def select_cliques(cliques: Iterable[Clique]) -> None:
    """Set the selected cliques."""
    texts = [
        json.dumps(clique, ensure_ascii=False, separators=(",", ":"))
        for clique in dict.fromkeys(cliques)
    ]
    if texts == _texts():
        return
    st.session_state[_KEPT] = texts
    if texts:
        st.query_params[CLIQUES] = texts
    elif CLIQUES in st.query_params:
        del st.query_params[CLIQUES]


def clear() -> None:
    """Forget the selection, such as when another dataset is chosen."""
    select_cliques([])


def forget_left_out() -> None:
    """Say it no more; at the end of a run, as a run that is cut short has said it to nobody."""
    st.session_state.pop(_LEFT_OUT, None)


def restore(page: str) -> None:
    """Synchronize selection and URL, at the start of every run.

    A new session takes the URL's. On a page that was just entered, where Streamlit has cleared the
    URL, the session's go into it. Otherwise a URL that is not the one we wrote comes from the
    browser's Back or from an edited address, and wins.
    """
    entered = st.session_state.get("_page") != page
    first = "_page" not in st.session_state
    st.session_state["_page"] = page
    in_url = st.query_params.get_all(CLIQUES)
    if first or in_url or not entered:
        readable = [text for text in in_url if _clique_from_text(text) is not None]
        if len(readable) < len(in_url):
            _leave_out(CLIQUES)
            if readable:
                st.query_params[CLIQUES] = readable
        st.session_state[_KEPT] = readable
    elif kept := _texts():
        st.query_params[CLIQUES] = kept


def _texts() -> list[str]:
    texts: list[str] = st.session_state.get(_KEPT, [])
    return texts


def _clique_from_text(text: str) -> Clique | None:
    """Parse a clique from a URL; None if it is malformed, or no dataset has such names."""
    try:
        names = json.loads(text)
        json.dumps(names, ensure_ascii=False).encode()  # fails on half a character
    except (ValueError, RecursionError):
        return None
    if not isinstance(names, list) or not 0 < len(names) <= MOST_NAMES:
        return None
    if not all(isinstance(name, str) and "\0" not in name for name in names):
        return None
    return tuple(sorted(set(names)))
