"""Form fields of options, drawn by their types: choices, numbers, check boxes, text and lists."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from cobalance.app.web.state import session
from cobalance.app.web.state.url import in_url, number_in_url
from cobalance.base.options import Options
from cobalance.base.readable_names import readable
from cobalance.generation.recipes.recipe import FormField

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
    drawn = {
        field.option: draw_option(
            field, fields[field.option], defaults[field.option], prefix + field.option
        )
        for field in offered
    }
    return {
        option: value
        for option, value in drawn.items()
        if value not in ("", (), None) and value != defaults[option]
    }


def draw_model_options(kind: type[Options], prefix: str, advice: str) -> dict[str, Any]:
    """Draw all options of a model; return the values that differ from their defaults.

    Where people log in, the operator decides which model is loaded, and where: these fields are
    left out, and `advice` names the command that has them (Markdown).
    """
    held = OF_OPERATOR if session.settings().cobalance_auth_file is not None else ()
    offered = [FormField(name, readable(name)) for name in kind.model_fields if name not in held]
    if len(offered) < len(kind.model_fields):
        st.caption(f"Which model is loaded is the operator's: {advice}.")
    with st.container(horizontal=True):
        return draw_options(offered, kind, prefix=prefix)


def draw_option(offered: FormField, option: FieldInfo, default: Any, key: str) -> Any:
    """Draw the field of an option, as its type asks; return its value."""
    kinds = [kind for kind in get_args(option.annotation) if kind is not type(None)]
    choices = kinds if get_origin(option.annotation) is Literal else list(offered.choices)
    kind = kinds[0] if kinds else option.annotation
    drawn: dict[str, Any] = {**in_url(key), "help": offered.help or None}
    if choices:
        return st.segmented_control(offered.label, choices, default=default, required=True, **drawn)
    if kind is bool:
        return st.checkbox(offered.label, value=default, **drawn)
    drawn["placeholder"] = offered.placeholder or None
    if get_origin(option.annotation) is tuple:
        text = st.text_input(offered.label, _join(default), max_chars=500, width=320, **drawn)
        if text == _join(default):
            return default
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind in (int, float):
        low, high, step = (
            None if limit is None else kind(limit)
            for limit in (_limit(option, name) for name in ("ge", "le", "multiple_of"))
        )
        drawn |= number_in_url(key) | ({"format": "%g"} if kind is float else {})
        return st.number_input(offered.label, low, high, default, step, width=130, **drawn)
    return st.text_input(offered.label, default or "", max_chars=500, width=320, **drawn).strip()


def _join(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


def _limit(option: FieldInfo, name: str) -> Any:
    """A numeric limit of a field, such as ``ge``; None without one."""
    return next((getattr(one, name) for one in option.metadata if hasattr(one, name)), None)
