"""Options and lines that `annotate audit` and `evaluate study` have in common."""

from typing import Annotated, TypeVar

import typer

from cobalance.app.cli.shared.stores import read_environment
from cobalance.base import OptionError, Setting
from cobalance.graph.database import store as stores
from cobalance.graph.panels import audits, panel as kept_panels, studies
from cobalance.workflows import login_file

PeopleOption = Annotated[
    str | None,
    typer.Option(metavar="NAMES"),
    "Draw a new one for these people, separated by commas: any names, or their e-mail addresses "
    "where the web app has a login.",
]

P = TypeVar("P", "audits.Audit", "studies.Study")


def split_people(people: str) -> tuple[str, ...]:
    """Names from the option --people."""
    return tuple(name.strip() for name in people.split(",") if name.strip())


def find_panel(
    store: "stores.GraphStore", panel_type: type[P], subject: str, which: str | None
) -> P:
    """The newest audit of a run or study of a job, or the one whose id begins with `which`."""
    kind = panel_type.kind
    about = f"The {kind.subject} {subject}"

    panels = kept_panels.list_panels(store, panel_type, **{kind.subject: subject})
    if not panels:
        raise OptionError(f"{about} has no {kind.name}. Draw one with ", Setting("people"), ".")

    matches = [panel for panel in panels if panel.id.startswith(which or "")]
    if not matches or (which and len(matches) > 1):
        ids = ", ".join(panel.id for panel in panels)
        raise OptionError(f"{about} has not one {kind.name} {which!r}. It has: {ids}.")
    return matches[0]


def panel_url(panel: "audits.Audit | studies.Study") -> str:
    """URL of the page where people answer."""
    name = panel.kind.name
    return login_file.page_url(
        read_environment().cobalance_auth_file, name, dataset=panel.dataset, **{name: panel.id}
    )
