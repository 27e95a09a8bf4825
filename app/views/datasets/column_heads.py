"""The preview of a table, with what each column holds chosen on its head."""

from collections.abc import Callable, Iterable

import streamlit as st

from app.views.datasets.chosen_file import ChosenFile
from app.views.widgets.theme import escape, shorten
from app.views.widgets.wording import LABELS
from ingest.options import TableOptions
from ingest.preview import TableSample
from ingest.tables.columns import USUAL_NAMES

Roles = tuple[str, ...]
NOT_USED: Roles = ()
_INDICATOR: Roles = ("concept_columns",)
_BOTH: Roles = ("id", "uri")
_NAMES: dict[Roles, str] = {
    ("id",): LABELS["table.id"],
    _BOTH: "Image id and picture",
    **{(role,): LABELS[f"table.{role}"] for role in USUAL_NAMES if role != "id"},
    _INDICATOR: LABELS["table.concept_columns"],
    NOT_USED: "Not used",
}
_MOST_HEADS = 48
_VALUES = 4
_HEAD_PX = 186
_NEEDED = {"id": "an image's id", "class_name": "its class", "concepts": "its concepts"}


def draw_heads(chosen: ChosenFile, sample: TableSample) -> TableOptions:
    """Draw the columns with their first values; return what they hold.

    Those that seem to be of no use, or one concept each, come last in a table of very many columns,
    and are chosen below it.
    """
    shown = sorted(sample.columns, key=lambda name: sample.guesses[name].roles in ((), _INDICATOR))
    shown = sample.columns if len(shown) <= _MOST_HEADS else shown[:_MOST_HEADS]
    keys = {name: chosen.key(f"column {name}") for name in shown}
    roles: dict[str, Roles] = {}
    with st.container(horizontal=True, gap="small"):
        for name in shown:
            with st.container(width=_HEAD_PX, gap="xsmall"):
                roles[name] = _draw_head(name, sample, keys)
    of = {role: name for name, given in roles.items() for role in given if given != _INDICATOR}
    indicators = [name for name, given in roles.items() if given == _INDICATOR]
    more = [name for name in sample.columns if name not in roles]
    if more:
        indicators += st.multiselect(
            f"Of {len(more):,} more columns, those of one concept each, with 0 or 1",
            more,
            [name for name in more if sample.guesses[name].roles == _INDICATOR],
            key=chosen.key("more columns"),
        )
    return TableOptions(
        **of, concept_columns=() if "concepts" in of else tuple(indicators), by_name=False
    )


def _draw_head(name: str, sample: TableSample, keys: dict[str, str]) -> Roles:
    """Draw a column: its head, its first values, and why it seems to hold what it does."""
    guess, key = sample.guesses[name], keys[name]
    if key not in st.session_state:
        st.session_state[key] = guess.roles if guess.roles in _NAMES else NOT_USED
    found: Roles = st.selectbox(
        f"**{escape(shorten(name, 24))}**",
        list(_NAMES),
        format_func=_NAMES.__getitem__,
        key=key,
        on_change=_release(key, keys.values()),
    )
    values = sample.rows[name].head(_VALUES).tolist()
    st.text("\n".join(shorten(" ".join((value or "–").split()), 26) for value in values))
    if guess.why and found == guess.roles:
        st.caption(f":material/help: {escape(guess.why)}")
    return found


def _release(key: str, others: Iterable[str]) -> Callable[[], None]:
    """Take what a column was chosen for from the column that had it."""

    def release() -> None:
        taken = set(st.session_state[key]) - set(_INDICATOR)
        for other in others:
            if other != key:
                left = tuple(role for role in st.session_state.get(other, ()) if role not in taken)
                st.session_state[other] = left

    return release


def say_missing(table: TableOptions, *, class_elsewhere: bool, searched: bool) -> None:
    """Draw what no column holds though an import needs it.

    Parameters
    ----------
    class_elsewhere, searched : bool
        Whether classes come from elsewhere, and concepts from captions.
    """
    has = {
        "id": table.id is not None,
        "class_name": class_elsewhere or table.class_name is not None,
        "concepts": searched or table.concepts is not None or bool(table.concept_columns),
    }
    named = [label for role, label in _NEEDED.items() if not has[role]]
    if named:
        st.warning(
            f"No column holds {' or '.join(named)} yet. Choose it on a column's head.",
            icon=":material/view_column:",
        )
