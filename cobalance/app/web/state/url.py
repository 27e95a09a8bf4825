"""Page state in the URL: a link reproduces the view, and other pages continue with it.

Filters live in widgets that Streamlit itself binds to query parameters. The selected cliques live
here: in the session while the user goes from page to page, and in the URL of each page.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.navigation.page import StreamlitPage

from cobalance.app.web.server.streamlit_internals import came_back

Clique = tuple[str, ...]
T = TypeVar("T")

COMPARED = "compare_after"  # the dataset on the right of a comparison
CLIQUES = "clique"  # the selected cliques, one parameter each
IMAGES, IMAGES_OF = "images", "images_of"  # the clique whose images are shown, and of which class
MOST_NAMES = 100
"""The most concepts of a clique in the URL."""
MOST_NUMBER = 2**53 - 1
"""The largest number in the URL."""
_LEFT_OUT = "_left_out"
_KEPT = "_cliques"
_PAGES = "_pages"
_COMPARED_WITH = "_compared_with"


def in_url(key: str, options: Collection[Any] | None = None) -> dict[str, Any]:
    """Arguments of a widget whose value is the query parameter of this name.

    A choice that is not among the `options`, such as another dataset's, is forgotten: Streamlit
    would refuse it.
    """
    if options is not None:
        kept = st.session_state.get(key)
        chosen = kept if isinstance(kept, list) else [kept]
        if any(one not in (None, *options) for one in chosen):
            del st.session_state[key]
    return {"key": key, "bind": "query-params"}


def number_in_url(key: str) -> dict[str, Any]:
    """Arguments of a field of numbers whose value is the query parameter of this name.

    A number that no browser could have written there, such as one of 400 digits, is left out, and
    the page drawn anew: Streamlit would fail on it.
    """
    if not all(map(_is_usual, st.query_params.get_all(key))) and _leave_out(key):
        st.rerun()
    return in_url(key)


def choice_in_url(key: str, options: Collection[Any] | None = None) -> dict[str, Any]:
    """Arguments of a field that always has a choice, which is the query parameter of this name.

    An empty one, by which Streamlit would choose nothing, is left out. `options` as in `in_url`.
    """
    if "" in st.query_params.get_all(key) and _leave_out(key):
        st.rerun()
    return in_url(key, options) | {"required": True}


def named_in_url(
    key: str, default: T | None, options: Collection[T], text: Callable[[T], str] = str
) -> dict[str, Any]:
    """Arguments of a choice that the URL names from the start, as its default depends on the data.

    Streamlit itself leaves a default out of the URL, which would then mean something else as soon
    as there are more datasets, classes or jobs. The default is for where neither the person nor the
    URL has made a choice of the options; `text` is the widget's ``format_func``.
    """
    named = any(text(one) == st.query_params.get(key) for one in options)
    if st.session_state.get(key) not in options and (key in st.session_state or not named):
        _set(key, default, "" if default is None else text(default))
    return {"key": key, "bind": "query-params", "index": None, "required": True}


def text_in_url(key: str, default: str) -> dict[str, Any]:
    """Arguments of a field of text that the URL names from the start, as its default is data."""
    if key not in st.session_state and key not in st.query_params:
        _set(key, default, default)
    return in_url(key)


def _set(key: str, value: object, text: str) -> None:
    """Set the value of a bound widget that is yet to be drawn in this run."""
    with suppress(StreamlitAPIException):  # drawn before: the widget writes the URL
        if text:
            st.query_params[key] = text
    st.session_state[key] = value


def id_in_url(key: str, ids: Collection[str], first: str | None = None) -> dict[str, Any]:
    """Arguments of a choice among ids, which is the query parameter of this name.

    Streamlit itself would write what `format_func` makes of the choice. An id of something else,
    such as of another dataset, is left out. `first` is the choice where neither the person nor the
    URL has made one; the URL names it, too.
    """
    widget = f"_id_{key}"
    given = st.query_params.get(key)
    if given in ids:
        st.session_state[widget] = given
    elif given is not None or came_back() or st.session_state.get(widget) not in (None, *ids):
        write(key, [])
        st.session_state.pop(widget, None)
    chosen = st.session_state.get(widget) or first
    if chosen is not None:
        st.session_state[widget] = chosen
        write(key, [chosen])

    def write_choice() -> None:
        chosen = st.session_state.get(widget)
        write(key, [] if chosen is None else [chosen])

    return {"key": widget, "on_change": write_choice}


def _is_usual(text: str) -> bool:
    """Whether a text is no number, or one that JavaScript represents exactly."""
    try:
        number = float(text)
    except ValueError:
        return True
    return abs(number) <= MOST_NUMBER  # not so of NaN


def _leave_out(key: str) -> bool:
    """Take a parameter out of the URL, and keep its name for `show_left_out`.

    Returns whether it is out: not if a widget wrote it there.
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
            f"The URL of this page has values that cannot be read, which are left out: "
            f"{listed}. Choose them anew on the page.",
            icon=":material/link_off:",
        )


def register(pages: Mapping[str, StreamlitPage]) -> None:
    """Register all pages by path, for `go_to`."""
    st.session_state[_PAGES] = pages


def go_to(path: str) -> NoReturn:
    """Switch to another page, and keep the selected cliques."""
    # Not None, which Streamlit refuses where a widget is bound to a parameter in the URL.
    st.switch_page(st.session_state[_PAGES][path], query_params={})


def selected_cliques() -> list[Clique]:
    """The cliques that are selected, in the order of their selection."""
    found = (_clique_from_text(text) for text in _texts())
    return list(dict.fromkeys(clique for clique in found if clique is not None))


def select_cliques(cliques: Iterable[Clique]) -> None:
    """Set the selected cliques."""
    texts = [_text_of(clique) for clique in dict.fromkeys(cliques)]
    if texts == _texts():
        return
    st.session_state[_KEPT] = texts
    write(CLIQUES, texts)


def toggle_clique(clique: Clique) -> None:
    """Select a clique, or take it out of the selection."""
    before = selected_cliques()
    others = [one for one in before if one != clique]
    select_cliques([*before, clique] if len(others) == len(before) else others)


def texts(key: str) -> list[str]:
    """The values of a parameter of the URL that is no widget's."""
    return list(st.query_params.get_all(key))


def write(key: str, values: Sequence[str]) -> None:
    """Set the values of a parameter of the URL that is no widget's; none takes it out."""
    if list(values) == texts(key):
        return
    if values:
        st.query_params[key] = values
    else:
        del st.query_params[key]


def shown_images() -> tuple[Clique, str | None] | None:
    """The clique whose images are shown, and the one class that they are of, if it is one."""
    text = st.query_params.get(IMAGES)
    clique = None if text is None else _clique_from_text(text)
    return None if clique is None else (clique, st.query_params.get(IMAGES_OF))


def show_images(clique: Clique | None, class_name: str | None = None) -> None:
    """Set whose images are shown; None for no clique's."""
    write(IMAGES, [] if clique is None else [_text_of(clique)])
    write(IMAGES_OF, [] if class_name is None else [class_name])


def compare(before: str, after: str | None) -> None:
    """Set the dataset to compare with on the page Before/after."""
    _set(COMPARED, after, after or "")
    st.session_state[_COMPARED_WITH] = before


def is_compared(before: str, others: Collection[str]) -> bool:
    """Whether a person or the URL has chosen the dataset to compare with."""
    given = st.session_state.get(COMPARED) or st.query_params.get(COMPARED)
    known = st.session_state.get(_COMPARED_WITH)
    st.session_state[_COMPARED_WITH] = before
    return came_back() or (known == before) or (known is None and given in others)


def clear() -> None:
    """Forget the selection, such as when another dataset is chosen."""
    select_cliques([])
    show_images(None)


def forget_left_out() -> None:
    """Say it no more; at the end of a run, as a run that is cut short has said it to nobody."""
    st.session_state.pop(_LEFT_OUT, None)


def restore() -> None:
    """Synchronize selection and URL, at the start of every run.

    A new session takes the URL's, and so does Back. Otherwise the session's go into it: on a page
    that was just entered Streamlit has cleared the URL, and where clicks follow one another the
    browser sends an older URL while a newer one is on its way to it.
    """
    in_url = st.query_params.get_all(CLIQUES)
    if _KEPT not in st.session_state or came_back():
        readable = [text for text in in_url if _clique_from_text(text) is not None]
        st.session_state[_KEPT] = readable  # first, as a run may be cut short at what follows
        if len(readable) < len(in_url):
            _leave_out(CLIQUES)
            if readable:
                st.query_params[CLIQUES] = readable
    else:
        write(CLIQUES, _texts())


def _texts() -> list[str]:
    texts: list[str] = st.session_state.get(_KEPT, [])
    return texts


def _text_of(clique: Clique) -> str:
    return json.dumps(clique, ensure_ascii=False, separators=(",", ":"))


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
