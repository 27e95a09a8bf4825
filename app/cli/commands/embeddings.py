"""`cobalance embeddings`: add vectors of images, find similar images and near duplicates."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.common import DatasetName, FormatOption, OutputOption, notes, opened_store, out
from app.cli.tables import Format, check_output, write_frame
from app.services import embeddings as service
from app.settings import Settings
from ingest.concepts.plurals import counted

app = typer.Typer(
    help="Add vectors of images; find similar images and near duplicates.", no_args_is_help=True
)


@app.command()
def add(
    dataset: DatasetName,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Parquet, .npz or CSV with ids and vectors, or a .npy array."
        ),
    ],
    ids: Annotated[
        Path | None,
        typer.Option("--ids", metavar="FILE", help="Ids of a .npy array's rows, one a line."),
    ] = None,
    id_column: Annotated[str, typer.Option(help="Column, or array of .npz, with the ids.")] = "id",
    vector_column: Annotated[
        str | None,
        typer.Option(
            help="Column of vectors in Parquet, or array of .npz. Default: the only one of lists."
        ),
    ] = None,
) -> None:
    """Keep the vectors of a dataset's images, in place of those before."""
    with opened_store() as (store, _):
        read, found = service.add_embeddings(
            store,
            Settings.from_environment(),
            dataset,
            file,
            ids,
            id_column=id_column,
            vector_column=vector_column,
        )
    notes.print(
        f"{counted(read, 'vectors')} kept; {counted(found, 'images')} of {dataset} have one.",
        markup=False,
    )


@app.command()
def similar(
    dataset: DatasetName,
    image: Annotated[str, typer.Argument(metavar="IMAGE", help="Id of an image.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many.")] = 20,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """List the images most like one, by the cosine of their vectors."""
    check_output(format_, output)
    with opened_store() as (store, _):
        found = service.require_embedded(store, Settings.from_environment(), dataset)
    write_frame(found.similar(image, count), format_, output, out)


@app.command()
def duplicates(
    dataset: DatasetName,
    similarity: Annotated[
        float, typer.Option(min=-1, max=1, help="The least cosine of two near duplicates.")
    ] = 0.97,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """List groups of near duplicates; those in several classes come first."""
    check_output(format_, output)
    with opened_store() as (store, progress):
        found = service.require_embedded(store, Settings.from_environment(), dataset)
        frame = found.duplicates(similarity, progress)
    across = frame[frame["classes"] != frame["class"]]["group"].nunique()
    notes.print(
        f"{counted(frame['group'].nunique(), 'groups')}, {across:,} of them in several classes.",
        markup=False,
    )
    write_frame(frame, format_, output, out)
