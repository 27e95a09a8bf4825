"""Form fields of options, drawn by their types: choices, numbers, check boxes and text."""

from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from app.views.state.url import in_url, number_in_url
from generation.recipes.recipe import FormField
from graph.options import Options


def draw_options(offered: Iterable[FormField], kind: type[Options]) -> dict[str, Any]:
    """Draw the fields of options; return those that differ from their defaults."""
    fields = kind.model_fields
    drawn = {field.option: draw_option(field, fields[field.option]) for field in offered}
    return {
        option: value
        for option, value in drawn.items()
        if value not in ("", None) and value != fields[option].default
    }


def draw_option(offered: FormField, option: FieldInfo) -> Any:
    """Draw the field of an option, as its type asks; return its value."""
    kinds = [kind for kind in get_args(option.annotation) if kind is not type(None)]
    choices = kinds if get_origin(option.annotation) is Literal else []
    kind = kinds[0] if kinds else option.annotation
    default = option.default
    drawn: dict[str, Any] = {**in_url(offered.option), "help": offered.help or None}
    if choices:
        return st.segmented_control(offered.label, choices, default=default, required=True, **drawn)
    if kind is bool:
        return st.checkbox(offered.label, value=default, **drawn)
    drawn["placeholder"] = offered.placeholder or None
    if kind in (int, float):
        low, high, step = (
            None if limit is None else kind(limit)
            for limit in (_limit(option, name) for name in ("ge", "le", "multiple_of"))
        )
        drawn |= number_in_url(offered.option)
        return st.number_input(offered.label, low, high, default, step, width=130, **drawn)
    return st.text_input(offered.label, default or "", max_chars=500, width=320, **drawn).strip()


def _limit(option: FieldInfo, name: str) -> Any:
    """A limit of a number, such as ``ge``; None where there is none."""
    return next((getattr(one, name) for one in option.metadata if hasattr(one, name)), None)
