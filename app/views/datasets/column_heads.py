"""The preview of a table, with what each column holds chosen on its head."""

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
    _BOTH: "Id and picture",
    **{(role,): LABELS[f"table.{role}"] for role in USUAL_NAMES if role != "id"},
    _INDICATOR: LABELS["table.concept_columns"],
    NOT_USED: "Not used",
}
_FEW = 12  # columns that all have heads
_MOST_HEADS = 24
_VALUES = 4
_FURTHER = "class of more columns"
_HEAD_PX = 156  # two side by side on a phone
_NEEDED = {"id": "an image's id", "class_name": "its class", "concepts": "its concepts"}


def draw_heads(chosen: ChosenFile, sample: TableSample) -> TableOptions:
    """Draw the columns with their first values; return what they hold.

    In a table of many columns those of one concept each are listed below the others, and one of
    them may be the class.
    """
    columns, guesses = sample.columns, sample.guesses
    shown = columns
    if len(columns) > _FEW:
        others = [name for name in columns if guesses[name].roles != _INDICATOR]
        shown = sorted(others, key=lambda name: guesses[name].roles == NOT_USED)[:_MOST_HEADS]
    keys = [*(chosen.key(f"column {name}") for name in shown), chosen.key(_FURTHER)]
    roles: dict[str, Roles] = {}
    with st.container(horizontal=True, gap="small"):
        for name, key in zip(shown, keys, strict=False):
            with st.container(width=_HEAD_PX, gap="xsmall"):
                roles[name] = _draw_head(name, key, sample, keys)
    if len(shown) < len(columns):
        roles |= _draw_more([name for name in columns if name not in roles], chosen, sample, keys)
    of = {role: name for name, given in roles.items() for role in given if given != _INDICATOR}
    indicators = tuple(name for name, given in roles.items() if given == _INDICATOR)
    return TableOptions(**of, concept_columns=() if "concepts" in of else indicators, by_name=False)


def _draw_more(
    names: list[str], chosen: ChosenFile, sample: TableSample, keys: list[str]
) -> dict[str, Roles]:
    """Draw the columns that have no heads: which are concepts, and which one is the class."""
    of_class, concepts = st.columns([1, 3])
    label = of_class.selectbox(
        f"Class, if it is one of the other {len(names):,} columns",
        names,
        index=None,
        placeholder="none of them",
        key=chosen.key(_FURTHER),
        on_change=_release,
        args=(chosen.key(_FURTHER), keys),
    )
    indicators = concepts.multiselect(
        f"Of the other {len(names):,} columns, those of one concept each, with 0 or 1",
        names,
        [name for name in names if sample.guesses[name].roles == _INDICATOR],
        key=chosen.key("more columns"),
    )
    roles = dict.fromkeys(indicators, _INDICATOR)
    return roles if label is None else {**roles, label: ("class_name",)}


def _draw_head(name: str, key: str, sample: TableSample, keys: list[str]) -> Roles:
    """Draw a column: its head, its first values, and why it seems to hold what it does."""
    guess = sample.guesses[name]
    if key not in st.session_state:
        st.session_state[key] = guess.roles if guess.roles in _NAMES else NOT_USED
    found: Roles = st.selectbox(
        f"**{escape(shorten(name, 20))}**",
        list(_NAMES),
        format_func=_NAMES.__getitem__,
        key=key,
        on_change=_release,
        args=(key, keys),
    )
    values = sample.rows[name].head(_VALUES).tolist()
    st.text("\n".join(shorten(" ".join((value or "–").split()), 20) for value in values))
    if guess.why and found == guess.roles:
        st.caption(f":material/help: {escape(guess.why)}")
    return found


def _release(key: str, keys: list[str]) -> None:
    """Take what a column was chosen for from the column that had it."""
    chosen = st.session_state[key]
    roles = {"class_name"} if isinstance(chosen, str) else {*(chosen or ())} - {*_INDICATOR}
    for other in keys:
        had = st.session_state.get(other)
        if other == key or not had:
            continue
        if isinstance(had, tuple):
            st.session_state[other] = tuple(role for role in had if role not in roles)
        elif "class_name" in roles:  # one of the columns without heads
            st.session_state[other] = None


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
