"""Options and lines that `annotate audit` and `evaluate study` have in common."""

from typing import Annotated, TypeVar

import typer

from cobalance.app.cli.shared.stores import environment
from cobalance.base.errors import OptionError, Setting
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


def find_panel(store: "stores.GraphStore", of: type[P], subject: str, which: str | None) -> P:
    """The newest audit of a run or study of a job, or the one whose id begins with `which`."""
    name, about = of.kind.name, f"The {of.kind.subject} {subject}"
    panels = kept_panels.list_panels(store, of, **{of.kind.subject: subject})
    if not panels:
        raise OptionError(f"{about} has no {name}. Draw one with ", Setting("people"), ".")
    found = [one for one in panels if one.id.startswith(which or "")]
    if not found or (which and len(found) > 1):
        known = ", ".join(one.id for one in panels)
        raise OptionError(f"{about} has not one {name} {which!r}. It has: {known}.")
    return found[0]


def panel_url(panel: "audits.Audit | studies.Study") -> str:
    """URL of the page where people answer."""
    login = environment().cobalance_auth_file
    name = panel.kind.name
    return login_file.page_url(login, name, dataset=panel.dataset, **{name: panel.id})
