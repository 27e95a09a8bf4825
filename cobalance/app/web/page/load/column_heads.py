"""Preview of a table, with the role of each column chosen in its head."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from cobalance.app.web.page.load.chosen_file import ChosenFile
from cobalance.app.web.widgets import LABELS, escape, shorten
from cobalance.ingest import KINDS, USUAL_NAMES, Guess, ReadOptions, TableSample

Roles = tuple[str, ...]
NOT_USED: Roles = ()
_FLAG: Roles = ("field flag",)
_BOTH: Roles = ("id", "uri")
# Kinds that other choices name already: no use, and bins of equal counts.
_SAID = ("ignore", "counts")
_NAMES: dict[Roles, str] = {
    ("id",): LABELS["id_column"],
    _BOTH: "Id and picture",
    **{(role,): LABELS[f"{role}_column"] for role in USUAL_NAMES if role != "id"},
    **{(f"field {kind}",): KINDS[kind].capitalize() for kind in KINDS if kind not in _SAID},
    NOT_USED: "Not used",
}
# In a table of up to so many columns all have heads.
_FEW = 12
_MOST_HEADS = 24
_VALUES = 4
# Two heads stand side by side on a phone.
_HEAD_PX = 156
_NEEDED = {"id": "an image's id", "class": "its class", "concepts": "its concepts"}


def draw_heads(chosen: ChosenFile, sample: TableSample) -> ReadOptions:
    """Draw the columns with their first values; return their roles as options.

    In a table of many columns those of one concept each are listed below the others, and one of
    them may be the class.
    """
    columns = sample.columns
    with_heads = _columns_with_heads(sample)
    keys = {name: chosen.key(f"column {name}") for name in with_heads}
    heads = _Heads(sample, keys, chosen.key("class of more columns"))

    roles: dict[str, Roles] = {}
    with st.container(horizontal=True, gap="small"):
        for name in with_heads:
            with st.container(width=_HEAD_PX, gap="xsmall"):
                roles[name] = heads.draw(name)
    if len(with_heads) < len(columns):
        others = [name for name in columns if name not in roles]
        roles |= heads.draw_more(others, chosen.key("more columns"))

    kinds = {
        name: column_roles[0].removeprefix("field ")
        for name, column_roles in roles.items()
        if _is_shared(column_roles)
    }
    columns_by_role: dict[str, Any] = {
        f"{role}_column": name
        for name, column_roles in roles.items()
        for role in column_roles
        if name not in kinds
    }
    return ReadOptions(**columns_by_role, field=kinds, by_name=False)


def _columns_with_heads(sample: TableSample) -> list[str]:
    """The columns that have heads: all of a few, else first the ones with a guessed role."""
    columns, guesses = sample.columns, sample.guesses
    if len(columns) <= _FEW:
        return columns
    others = [name for name in columns if guesses[name].roles != _FLAG]
    return sorted(others, key=lambda name: guesses[name].roles == NOT_USED)[:_MOST_HEADS]


def _is_shared(roles: Roles) -> bool:
    """Whether several columns may have the role."""
    return bool(roles and roles[0].startswith("field "))


@dataclass(frozen=True, eq=False)
class _Heads:
    """The heads of columns, each a widget; a role is of one column alone.

    `keys` are the widgets' by column; `class_key` is that of the choice of the class among columns
    without heads.
    """

    sample: TableSample
    keys: dict[str, str]
    class_key: str

    def draw(self, name: str) -> Roles:
        """Draw a column: its head, its first values, and the reason for its guessed role."""
        guess, key = self.sample.guesses[name], self.keys[name]
        if key not in st.session_state:
            st.session_state[key] = guess.roles if guess.roles in _NAMES else NOT_USED
        # The widget's name is read aloud as it is, without what makes it bold.
        st.markdown(f"**{escape(shorten(name, 20))}**")
        roles: Roles = st.selectbox(
            name,
            list(_NAMES),
            format_func=_NAMES.__getitem__,
            key=key,
            on_change=self._release,
            args=(key,),
            label_visibility="collapsed",
        )
        values = self.sample.rows[name].head(_VALUES).tolist()
        # An empty value is a dash, so that a line is a row in all columns.
        texts = [shorten(" ".join((value or "–").split()), 20) for value in values]
        st.text("\n".join(texts))

        # Whoever chose another role needs no reason for the guess.
        if roles == guess.roles:
            self._explain(guess, key)
        return roles

    def _explain(self, guess: Guess, key: str) -> None:
        """Draw the reason for a guess, and buttons for the columns that it might as well be."""
        if guess.why:
            st.caption(f":material/help: {escape(guess.why)}")

        for rival in guess.rivals:
            if rival in self.keys:
                st.button(
                    f"“{escape(shorten(rival, 16))}” instead",
                    key=f"{key} or {rival}",
                    type="tertiary",
                    icon=":material/swap_horiz:",
                    on_click=self._move,
                    args=(guess.contested, rival),
                )

    def draw_more(self, names: list[str], key: str) -> dict[str, Roles]:
        """Draw the columns that have no heads: which are concepts, and which one is the class."""
        place, indicators_place = st.columns([1, 3])
        class_column = place.selectbox(
            f"Class, if it is one of the other {len(names):,} columns",
            names,
            index=None,
            placeholder="none of them",
            key=self.class_key,
            on_change=self._release,
            args=(self.class_key,),
        )

        indicators = indicators_place.multiselect(
            f"Of the other {len(names):,} columns, those of one concept each, with 0 or 1",
            names,
            [name for name in names if self.sample.guesses[name].roles == _FLAG],
            key=key,
        )

        roles = dict.fromkeys(indicators, _FLAG)
        if class_column is not None:
            roles[class_column] = ("class",)
        return roles

    def _release(self, key: str) -> None:
        """Take a role from the column that had it before."""
        roles = st.session_state[key]
        if key == self.class_key:
            roles = () if roles is None else ("class",)
        elif "class" in roles and self.class_key in st.session_state:
            st.session_state[self.class_key] = None

        if _is_shared(roles):
            return
        for other in self.keys.values():
            if other != key:
                other_roles = st.session_state.get(other, ())
                st.session_state[other] = tuple(role for role in other_roles if role not in roles)

    def _move(self, role: str, rival: str) -> None:
        """Give a role to another column."""
        key = self.keys[rival]
        roles = {*st.session_state.get(key, ()), role}
        # A column can be both id and picture, and otherwise has one role.
        st.session_state[key] = _BOTH if roles == set(_BOTH) else (role,)
        self._release(key)


def say_missing(options: ReadOptions, *, class_elsewhere: bool, searched: bool) -> None:
    """Warn of roles that an import needs and no column has.

    `class_elsewhere`: whether classes come from elsewhere; `searched`: whether captions are
    searched for concepts.
    """
    has = {
        "id": options.id_column is not None,
        "class": class_elsewhere or options.class_column is not None,
        "concepts": searched or options.concepts_column is not None or bool(options.field),
    }

    missing = [label for role, label in _NEEDED.items() if not has[role]]
    if missing:
        st.warning(
            f"No column holds {' or '.join(missing)} yet. Choose it on a column's head.",
            icon=":material/view_column:",
        )
