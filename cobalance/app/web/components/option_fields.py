"""Form fields of options, drawn by their types: choices, numbers, check boxes, text and lists."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from cobalance.app.web.state import in_url, number_in_url, session
from cobalance.app.web.widgets import escape
from cobalance.base import Options, readable
from cobalance.generation import FormField

OF_OPERATOR = ("model", "revision", "offline", "device")
"""Options that choose what a worker loads, and where: not offered where people log in."""


def draw_options(
    offered: Iterable[FormField],
    kind: type[Options],
    usual: Mapping[str, Any] | None = None,
    prefix: str = "",
) -> dict[str, Any]:
    """Draw form fields of options; return the values that differ from their defaults.

    `usual` has other defaults than the options' own; `prefix` is of the fields' names in the URL.
    """
    fields = kind.model_fields
    defaults = {name: field.default for name, field in fields.items()} | dict(usual or {})
    values = {}
    for field in offered:
        name = field.option
        values[name] = draw_option(field, fields[name], defaults[name], prefix + name)

    # An empty field means the default.
    return {
        name: value
        for name, value in values.items()
        if value not in ("", (), None) and value != defaults[name]
    }


def draw_purpose(plugin: Any) -> None:
    """Draw a plug-in's purpose, and the licence of its default model."""
    text = plugin.purpose
    if plugin.licence:
        text = f"{text} Default model: {plugin.licence}."
    st.caption(escape(text))


def draw_model_options(kind: type[Options], prefix: str, advice: str) -> dict[str, Any]:
    """Draw all options of a model; return the values that differ from their defaults.

    Where people log in, the operator decides which model is loaded, and where: these fields are
    left out, and `advice` names the command that has them (Markdown).
    """
    names = [*kind.model_fields]
    if session.settings().cobalance_auth_file is not None:
        names = [name for name in names if name not in OF_OPERATOR]
    if len(names) < len(kind.model_fields):
        st.caption(f"Which model is loaded is the operator's: {advice}.")
    with st.container(horizontal=True):
        offered = [FormField(name, readable(name)) for name in names]
        return draw_options(offered, kind, prefix=prefix)


def draw_option(offered: FormField, option: FieldInfo, default: Any, key: str) -> Any:
    """Draw the field of an option, as its type asks; return its value."""
    origin = get_origin(option.annotation)
    kinds = [kind for kind in get_args(option.annotation) if kind is not type(None)]
    choices = kinds if origin is Literal else list(offered.choices)
    kind = next(iter(kinds), option.annotation)

    widget: dict[str, Any] = {**in_url(key), "help": offered.help or None}
    if choices:
        return st.segmented_control(
            offered.label, choices, default=default, required=True, **widget
        )
    if kind is bool:
        return st.checkbox(offered.label, value=default, **widget)
    widget["placeholder"] = offered.placeholder or None

    if origin is tuple:
        text = st.text_input(offered.label, _join(default), max_chars=500, width=320, **widget)
        # A default with a comma in one of its parts would not be read back as it is.
        if text == _join(default):
            return default
        return tuple(part.strip() for part in text.split(",") if part.strip())

    if kind in (int, float):
        widget |= number_in_url(key)
        if kind is float:
            widget["format"] = "%g"
        low, high, step = (_limit(option, name, kind) for name in ("ge", "le", "multiple_of"))
        return st.number_input(offered.label, low, high, default, step, width=130, **widget)
    return st.text_input(offered.label, default or "", max_chars=500, width=320, **widget).strip()


def _join(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


def _limit(option: FieldInfo, name: str, kind: Any) -> Any:
    """A limit of a field, such as ``ge``, as a number of its kind; None without one."""
    limits = [getattr(rule, name) for rule in option.metadata if hasattr(rule, name)]

    # Streamlit refuses limits of another type than the value's.
    return kind(limits[0]) if limits and limits[0] is not None else None
