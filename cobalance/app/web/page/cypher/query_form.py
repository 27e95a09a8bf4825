"""Form fields for a saved query's parameters, kept in the URL where they fit."""

from typing import Any, Literal
from urllib.parse import urlencode

import streamlit as st

from cobalance.app.web.state import CurrentDataset, names_of, number_in_url, session
from cobalance.app.web.widgets import grid
from cobalance.graph import REQUIRED, Parameter, Query

MOST_ROWS = 10_000
# Characters of a query and its parameters.
MOST_IN_LINK = 2_000
# The key of the choice of the query.
NAME = "cypher_saved"

_FIELDS_IN_ROW = 4
_SECONDS = "cypher_seconds"

Binding = Literal["query-params"] | None


def fields(current: CurrentDataset, query: Query) -> tuple[dict[str, Any], float]:
    """Draw a field for each parameter; return their values and the time limit."""
    keys = {name: _key(query, name) for name in query.parameters}
    binding = binding_of(NAME, *keys.values())
    values: dict[str, Any] = {session.DATASET: current.name}

    names = [name for name in query.parameters if name != session.DATASET]
    columns = grid(len(names) + 1, _FIELDS_IN_ROW, vertical_alignment="bottom")
    for name, column in zip(names, columns, strict=False):
        with column:
            values[name] = _field(current, keys[name], name, query.parameters[name], binding)
    with columns[-1]:
        timeout_s = seconds_field()
    note_if_not_in_link(binding)
    return values, timeout_s


def _key(query: Query, name: str) -> str:
    """Widget key of a parameter: queries share the choice of a name, not limits."""
    shared = query.parameters[name].names is not None
    return f"cypher_{name}" if shared else f"cypher_{query.name}_{name}"


def _field(
    current: CurrentDataset, key: str, name: str, parameter: Parameter, binding: Binding
) -> Any:
    """Draw the field of a parameter, as its type asks; return its value."""
    label = parameter.purpose[:1].upper() + parameter.purpose[1:]
    default, placeholder = parameter.default, "Any"
    if default is REQUIRED:
        default, placeholder = None, "Choose"
    common: dict[str, Any] = {"key": key, "help": f"`${name}` in the query", "bind": binding}

    names = names_of(current, parameter.names) if parameter.names is not None else []
    if parameter.names is not None and parameter.type is str:
        return st.selectbox(label, names, index=None, placeholder=placeholder, **common)
    if parameter.type is list:
        is_free = parameter.names is None
        chosen = st.multiselect(
            label, names, default, placeholder=placeholder, accept_new_options=is_free, **common
        )
        # Nothing chosen is no condition, not one that nothing meets.
        return chosen or default

    if parameter.type in (int, float) and binding is not None:
        common |= number_in_url(key)
    if parameter.type is int:
        low, high = (1, MOST_ROWS) if name == "limit" else (0, None)
        return st.number_input(label, low, high, default, 1, **common)
    if parameter.type is float:
        return st.number_input(label, value=default, placeholder="Any", format="%g", **common)
    if parameter.type is bool:
        return st.toggle(label, value=bool(default), **common)
    return st.text_input(label, value=default, **common)


def seconds_field() -> float:
    """Draw the field of the time limit; return its value."""
    return st.number_input("Time limit in seconds", 1, 300, 30, **number_in_url(_SECONDS))


def binding_of(*keys: str) -> Binding:
    """The `bind` argument of widgets with these keys: the URL, if their values fit."""
    values = {key: st.session_state.get(key) for key in keys}
    in_link = urlencode({key: value for key, value in values.items() if value}, doseq=True)
    return "query-params" if len(in_link) <= MOST_IN_LINK else None


def note_if_not_in_link(binding: Binding) -> None:
    """Note that the URL lacks the query, if it does."""
    if binding is None:
        st.caption(
            f":material/link_off: The query is longer than {MOST_IN_LINK:,} characters, so the "
            "URL of this page lacks it: send the text with the link."
        )
