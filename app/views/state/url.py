"""Page state in the URL: a link reproduces the view, and other pages continue with it.

Filters live in widgets that Streamlit itself binds to query parameters. The selected cliques live
here: in the session while the user goes from page to page, and in the URL of each page.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Literal, NoReturn, TypedDict

import streamlit as st
from streamlit.navigation.page import StreamlitPage

Clique = tuple[str, ...]

COMPARED = "compare_after"  # the dataset on the right of a comparison
CLIQUES = "clique"  # the selected cliques, one parameter each
_KEPT = "_cliques"
_PAGES = "_pages"


class InUrl(TypedDict):
    """Arguments of a widget whose value is a query parameter."""

    key: str
    bind: Literal["query-params"]


def in_url(key: str) -> InUrl:
    """Arguments of a widget whose value is the query parameter of this name."""
    return {"key": key, "bind": "query-params"}


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
        st.session_state[_KEPT] = in_url
    elif kept := _texts():
        st.query_params[CLIQUES] = kept


def _texts() -> list[str]:
    texts: list[str] = st.session_state.get(_KEPT, [])
    return texts


def _clique_from_text(text: str) -> Clique | None:
    """Parse a clique from a URL; None if it is malformed."""
    try:
        names = json.loads(text)
    except ValueError:
        return None
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        return None
    return tuple(sorted(set(names)))
