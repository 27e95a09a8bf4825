"""Create, read and answer audits and studies."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, TypeVar

import pandas as pd

from cobalance.base import ConflictError, plain_values, require_one
from cobalance.graph.database import GraphStore, Row, json_text
from cobalance.graph.dataset import busy_dataset, dataset_state
from cobalance.graph.panels.statements import PanelKind


@dataclass(frozen=True, eq=False)
class Panel:
    """A blind sample that people judge, with what audits and studies share.

    People are names, or addresses where people log in; it was created at a time in UTC.
    """

    kind: ClassVar[PanelKind]

    id: str
    dataset: str
    people: tuple[str, ...]
    settings: Mapping[str, Any]
    created_at: datetime | None

    @classmethod
    def parse(cls, stored: Row) -> dict[str, Any]:
        """The fields' values, from those of the node's properties."""
        return {**stored, "people": tuple(stored["people"])}


P = TypeVar("P", bound=Panel)


def read_panel(store: GraphStore, of: type[P], panel: str) -> P:
    """Read an audit or a study; raises NotFoundError."""
    return require_one(list_panels(store, of, id=panel), of.kind.name, panel)


def list_panels(store: GraphStore, of: type[P], **by: str) -> list[P]:
    """List audits or studies by their ``dataset``, or by their ``run`` or ``job``; newest first."""
    ((name, value),) = by.items()
    rows = store.read(of.kind.read(name), value=value)
    return [of(**of.parse(of.kind.about.start.parse(row["panel"]))) for row in rows]


def read_answers(store: GraphStore, panel: Panel, person: str | None = None) -> pd.DataFrame:
    """Read a panel's answers, of one person or of all.

    Returns
    -------
    pandas.DataFrame
        ``person`` and ``answer``; of an audit ``image`` and ``concept``, of a study ``pair`` (the
        candidate's id) and ``question``.
    """
    return store.read_frame(panel.kind.answers, panel=panel.id, person=person)


def save_answers(store: GraphStore, panel: Panel, answers: pd.DataFrame) -> None:
    """Write answers in place of the same people's earlier ones, all or nothing.

    Parameters
    ----------
    answers : pandas.DataFrame
        As `read_answers` returns them.

    Raises
    ------
    NotFoundError
        There is no such panel.
    ConflictError
        The study is closed.
    """
    if answers.empty:
        return

    kind = panel.kind
    columns = [plain_values(answers[name]) for name in (*kind.columns, "answer")]
    names = (kind.name, *kind.columns.values(), "answer")
    rows = []
    for *key, answer in zip(*columns, strict=True):
        values = (panel.id, *key, answer)
        properties = kind.judges.start.check(dict(zip(names, values, strict=True)))
        rows.append({"key": [panel.id, *key], "properties": properties})

    (counted,) = store.write(kind.save, panel=panel.id, rows=rows)
    if counted["written"]:
        return
    # Nothing was written: the panel is gone, for which this raises an error, or closed.
    read_panel(store, type(panel), panel.id)
    raise ConflictError("The study is closed, and takes no more answers. Create another.")


def create_panel(
    store: GraphStore,
    kind: PanelKind,
    dataset: str,
    subject: str,
    *,
    people: Sequence[str],
    settings: Mapping[str, Any] | None,
    **properties: object,
) -> str:
    """Create an audit or a study, and return its id.

    Raises
    ------
    StaleError, ConflictError
        The dataset is being loaded, dropped or renamed.
    """
    dataset_state(store, dataset).require_complete()
    values = {**properties, "people": list(people), "settings": json_text(settings or {})}

    panel = uuid.uuid4().hex[:16]
    row = {"key": panel, "properties": kind.about.start.check(values)}
    if not store.write(kind.create, subject=subject, row=row):
        raise busy_dataset(dataset)
    return panel
