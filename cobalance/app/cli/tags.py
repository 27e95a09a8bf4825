"""`cobalance tags`: tag images, make tags concepts or exclusions, and write notes."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from cobalance.app.cli.shared import DatasetName, TableOutput, clean_names, notes, opened_store
from cobalance.base import OptionError, inflect
from cobalance.graph import TagRole
from cobalance.graph.database import store as stores
from cobalance.graph.tags import applying, tags as kept_tags
from cobalance.ingest import reader

app = typer.Typer(no_args_is_help=True)

_TagName = Annotated[
    str, typer.Argument(metavar="TAG", help="Name of a tag.", callback=clean_names)
]
_Images = Annotated[list[str] | None, typer.Argument(metavar="IMAGE...", help="Ids of images.")]
_FromFile = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Read this file: ids of images, one a line."),
]
_By = Annotated[str, typer.Option("--author", help="Who says so, for others to read.")]
_ROLES = "tag (a mark alone), concept (its images show it) or exclude (they are left out)."


@app.command("list")
def list_(to: TableOutput, dataset: DatasetName) -> None:
    """List a dataset's tags, what they do, and how many images have them."""
    with opened_store() as (store, _):
        frame = kept_tags.list_tags(store, dataset)
        _say_pending(store, dataset)
    to.write(frame)


@app.command()
def show(to: TableOutput, dataset: DatasetName, tag: _TagName) -> None:
    """List the images that have a tag."""
    with opened_store() as (store, _):
        frame = kept_tags.images_of_tag(store, dataset, tag)
    to.write(frame)


@app.command()
def add(
    dataset: DatasetName,
    tag: _TagName,
    images: _Images = None,
    from_: _FromFile = None,
    role: Annotated[TagRole | None, f"What the tag does: {_ROLES}"] = None,
    by: _By = "",
) -> None:
    """Give images a tag, which is made if it does not exist."""
    ids = _ids(images, from_)
    with opened_store() as (store, _):
        tagged = kept_tags.tag_images(store, dataset, tag, ids, by=by)
        if role is not None:
            kept_tags.set_role(store, dataset, tag, role)
        notes.print(f"{inflect(tagged, 'images')} of {dataset} tagged {tag}.")
        _say_pending(store, dataset)


@app.command()
def remove(
    dataset: DatasetName, tag: _TagName, images: _Images = None, from_: _FromFile = None
) -> None:
    """Take a tag from images."""
    ids = _ids(images, from_)
    with opened_store() as (store, _):
        untagged = kept_tags.untag_images(store, dataset, tag, ids)
        notes.print(f"{inflect(untagged, 'images')} of {dataset} lost {tag}.")
        _say_pending(store, dataset)


@app.command("role")
def role_(
    dataset: DatasetName,
    tag: _TagName,
    role: Annotated[TagRole, typer.Argument(help=f"What the tag does: {_ROLES}")],
) -> None:
    """Say what a tag does to counts. Change it as often as you like: nothing is lost."""
    with opened_store() as (store, _):
        kept_tags.set_role(store, dataset, tag, role)
        _say_pending(store, dataset)


@app.command()
def delete(dataset: DatasetName, tag: _TagName) -> None:
    """Delete a tag; images that it left out come back."""
    with opened_store() as (store, _):
        kept_tags.delete_tag(store, dataset, tag)
        notes.print(f"Deleted the tag {tag!r}.")
        _say_pending(store, dataset)


@app.command()
def apply(dataset: DatasetName) -> None:
    """Make counts follow the tags, as `cobalance mine` does before it counts."""
    with opened_store() as (store, progress):
        changes = applying.apply_tags(store, dataset, progress=progress)
    done = changes.describe() or "No image changes"
    notes.print(f"{done}.")


@app.command()
def note(
    dataset: DatasetName,
    image: Annotated[str, typer.Argument(metavar="IMAGE", help="Id of an image.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help='What to write; "" deletes it.')],
    by: _By = "",
) -> None:
    """Write about an image, in place of what was written before."""
    with opened_store() as (store, _):
        kept_tags.write_note(store, dataset, image, text, by=by)


@app.command("notes")
def notes_(to: TableOutput, dataset: DatasetName) -> None:
    """List what was written about a dataset's images."""
    with opened_store() as (store, _):
        frame = kept_tags.list_notes(store, dataset)
    to.write(frame)


def _ids(images: list[str] | None, file: Path | None) -> list[str]:
    """Ids of images from a command and from a file's lines; OptionError without any."""
    ids = list(images or ())
    if file is not None:
        lines = reader.read_text(file, "ids of images").splitlines()
        ids += filter(None, map(str.strip, lines))
    if not ids:
        raise OptionError("No image is named. Name some, or a file with their ids: --from FILE.")
    return ids


def _say_pending(store: "stores.GraphStore", dataset: str) -> None:
    if pending := applying.pending_tags(store, dataset):
        notes.print(f"In the next count {pending.describe()}: cobalance mine {quote(dataset)}")
