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

# The dataset on the right of a comparison.
COMPARED = "compare_after"
# The selected cliques, one parameter each.
CLIQUES = "clique"
# The clique whose images are shown, and the class that they are of.
IMAGES, IMAGES_OF = "images", "images_of"
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
        value = st.session_state.get(key)
        choices = value if isinstance(value, list) else [value]
        if any(choice not in (None, *options) for choice in choices):
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
    is_named = any(text(option) == st.query_params.get(key) for option in options)
    has_choice = st.session_state.get(key) in options
    # Once the widget was drawn its own value counts, and the URL only follows it.
    if not has_choice and (key in st.session_state or not is_named):
        _set(key, default, "" if default is None else text(default))
    return {"key": key, "bind": "query-params", "index": None, "required": True}


def text_in_url(key: str, default: str) -> dict[str, Any]:
    """Arguments of a field of text that the URL names from the start, as its default is data."""
    if key not in st.session_state and key not in st.query_params:
        _set(key, default, default)
    return in_url(key)


def _set(key: str, value: object, text: str) -> None:
    """Set the value of a bound widget that is yet to be drawn in this run."""
    # Streamlit refuses it if the widget was drawn before, which then writes the URL itself.
    with suppress(StreamlitAPIException):
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
    in_link = st.query_params.get(key)
    is_stale = st.session_state.get(widget) not in (None, *ids)
    if in_link in ids:
        st.session_state[widget] = in_link
    elif in_link is not None or came_back() or is_stale:
        write(key, [])
        st.session_state.pop(widget, None)

    choice = st.session_state.get(widget) or first
    if choice is not None:
        st.session_state[widget] = choice
        write(key, [choice])

    def write_choice() -> None:
        choice = st.session_state.get(widget)
        write_one(key, choice)

    return {"key": widget, "on_change": write_choice}


def _is_usual(text: str) -> bool:
    """Whether a text is no number, or one that JavaScript represents exactly."""
    try:
        number = float(text)
    except ValueError:
        return True
    # False of NaN, too.
    return abs(number) <= MOST_NUMBER


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
    cliques = map(_clique_from_text, _texts())
    return list(dict.fromkeys(clique for clique in cliques if clique is not None))


def select_cliques(cliques: Iterable[Clique]) -> None:
    """Set the selected cliques."""
    texts = list(map(_text_of, dict.fromkeys(cliques)))
    if texts != _texts():
        st.session_state[_KEPT] = texts
        write(CLIQUES, texts)


def toggle_clique(clique: Clique) -> None:
    """Select a clique, or take it out of the selection."""
    cliques = selected_cliques()
    if clique in cliques:
        cliques.remove(clique)
    else:
        cliques.append(clique)
    select_cliques(cliques)


def texts(key: str) -> list[str]:
    """The values of a parameter of the URL that is no widget's."""
    return list(st.query_params.get_all(key))


def write(key: str, values: Sequence[str]) -> None:
    """Set the values of a parameter of the URL that is no widget's; none takes it out."""
    if list(values) != texts(key):
        if values:
            st.query_params[key] = values
        else:
            del st.query_params[key]


def write_one(key: str, value: str | None) -> None:
    """Set the only value of a parameter of the URL that is no widget's; None takes it out."""
    write(key, [] if value is None else [value])


def named_clique(key: str) -> Clique | None:
    """The clique that a parameter of the URL names, if it names one."""
    text = st.query_params.get(key)
    return None if text is None else _clique_from_text(text)


def name_clique(key: str, clique: Clique | None) -> None:
    """Set the clique that a parameter of the URL names; None takes it out."""
    write(key, [] if clique is None else [_text_of(clique)])


def shown_images() -> tuple[Clique, str | None] | None:
    """The clique whose images are shown, and the one class that they are of, if it is one."""
    clique = named_clique(IMAGES)
    return None if clique is None else (clique, st.query_params.get(IMAGES_OF))


def show_images(clique: Clique | None, class_name: str | None = None) -> None:
    """Set whose images are shown; None for no clique's."""
    name_clique(IMAGES, clique)
    write_one(IMAGES_OF, class_name)


def compare(before: str, after: str | None) -> None:
    """Set the dataset to compare with on the page Compare."""
    _set(COMPARED, after, after or "")
    st.session_state[_COMPARED_WITH] = before


def is_compared(before: str, others: Collection[str]) -> bool:
    """Whether a person or the URL has chosen the dataset to compare with."""
    after = st.session_state.get(COMPARED) or st.query_params.get(COMPARED)
    chosen_with = st.session_state.get(_COMPARED_WITH)
    st.session_state[_COMPARED_WITH] = before
    # In a new session the URL's choice counts, whichever dataset it was made with.
    is_chosen_by_url = chosen_with is None and after in others
    return came_back() or chosen_with == before or is_chosen_by_url


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
    if _KEPT in st.session_state and not came_back():
        write(CLIQUES, _texts())
        return

    texts = st.query_params.get_all(CLIQUES)
    readable = [text for text in texts if _clique_from_text(text) is not None]
    # Before the URL is mended, as a run may be cut short at what follows.
    st.session_state[_KEPT] = readable
    if len(readable) < len(texts):
        _leave_out(CLIQUES)
        if readable:
            st.query_params[CLIQUES] = readable


def _texts() -> list[str]:
    return st.session_state.get(_KEPT, [])


def _text_of(clique: Clique) -> str:
    return json.dumps(clique, ensure_ascii=False, separators=(",", ":"))


def _clique_from_text(text: str) -> Clique | None:
    """Parse a clique from a URL; None if it is malformed, or no dataset has such names."""
    try:
        names = json.loads(text)
        # Half a character, which JSON allows, fails to be encoded.
        json.dumps(names, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None

    if not isinstance(names, list) or not 0 < len(names) <= MOST_NAMES:
        return None
    if not all(isinstance(name, str) and "\0" not in name for name in names):
        return None
    return tuple(sorted(set(names)))
