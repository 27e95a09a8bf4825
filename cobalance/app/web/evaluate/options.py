"""Fields of learners' and methods' options, and of the shortcuts' file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_origin

import streamlit as st

from cobalance.app.web.components.option_fields import draw_options
from cobalance.app.web.state.access import accept_uploads, may_edit
from cobalance.app.web.widgets.messages import show_error
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.evaluation.shortcuts import Shortcuts
from cobalance.evaluation.training.features import FEATURES
from cobalance.evaluation.training.learners import LEARNERS
from cobalance.evaluation.training.methods import METHODS
from cobalance.evaluation.training.presets import PRESETS
from cobalance.generation.recipes.recipe import FormField
from cobalance.graph.errors import CobalanceError
from cobalance.graph.options import Options
from cobalance.graph.wording import inflect
from cobalance.ingest.concepts.wording import readable
from cobalance.workflows.load.check import named_plainly
from cobalance.workflows.load.sources import temporary_files

_SHOWN = 6  # concepts of a class
_NAMES = {"features": tuple(FEATURES)}


def choose_learner_options(preset: str) -> dict[str, Any]:
    """Draw the options of a preset's learner; those that differ from the preset's."""
    chosen = PRESETS[preset]
    kind = LEARNERS[chosen.learner].options
    st.markdown(f"**Learner {escape(chosen.learner)}**")
    offered = [
        FormField(name, readable(name), choices=_NAMES.get(name, ())) for name in _offered(kind)
    ]
    with st.container(horizontal=True):
        return draw_options(offered, kind, chosen.learner_options, f"{preset}_")


def choose_method_options(methods: Sequence[str]) -> dict[str, Any]:
    """Draw the options of methods, those of one name once; the ones that are changed."""
    found: dict[str, Any] = {}
    drawn = set[str]()
    for method in methods:
        kind = METHODS[method].options
        offered = [
            FormField(name, readable(name), _takers(name, methods))
            for name in _offered(kind)
            if name not in drawn
        ]
        if offered:
            drawn |= {field.option for field in offered}
            st.markdown(f"**Method {escape(method)}**")
            with st.container(horizontal=True):
                found |= draw_options(offered, kind, prefix=f"{method}_")
    return found


def _offered(kind: type[Options]) -> list[str]:
    """Options that a field can be drawn for."""
    return [
        name for name, one in kind.model_fields.items() if get_origin(one.annotation) is not dict
    ]


def _takers(option: str, methods: Sequence[str]) -> str:
    """Which of some methods have an option, where several do."""
    takers = [name for name in methods if option in METHODS[name].options.model_fields]
    return f"For {', '.join(map(escape, takers))}." if len(takers) > 1 else ""


def send_shortcuts() -> Shortcuts | None:
    """Draw the place for a file of shortcuts, and what it says; None until there is one."""
    if not may_edit():
        st.caption("Only editors may send files.")
        return None
    accept_uploads()
    sent = st.file_uploader(
        "File of shortcuts",
        ["toml"],
        key="_shortcuts_file",
        help="TOML: a table for each shortcut, with a list of concepts for each class, such as  \n"
        '`[background]`  \n`urban = ["alley"]`  \n`country = ["field road"]`',
    )
    if sent is None:
        return None
    try:
        name = Path(sent.name).name
        with temporary_files({name: sent.getvalue()}) as folder, named_plainly(folder):
            found = Shortcuts.from_toml(folder / name)
    except CobalanceError as error:
        show_error(error)
        return None
    for name, classes in found.concepts.items():
        said = (f"{one}: {_some(concepts)}" for one, concepts in classes.items())
        st.caption(escape(f"{name} - {'; '.join(said)}"))
    return found


def _some(concepts: Sequence[str]) -> str:
    named = ", ".join(shorten(one, 40) for one in concepts[:_SHOWN])
    more = len(concepts) - _SHOWN
    return f"{named} and {inflect(more, 'others')}" if more > 0 else named or "none"
