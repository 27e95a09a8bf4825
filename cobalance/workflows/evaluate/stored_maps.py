"""Class activation maps of evaluations, kept in the output folder as one Parquet file each."""

import io

import pandas as pd

from cobalance.graph.errors import CobalanceError
from cobalance.ingest.stored.output_folder import OutputFolder, OutputMissingError
from cobalance.workflows.evaluate.stored import FOLDER

COLUMNS = ("image", "class_name", "predicted", "cam_energy", "mask_share", "map")
"""Columns of the file; ``map`` is a greyscale PNG of the image's shape, bright where the model sees
its class, and the shares are NaN for an image without regions of its object."""


class MapsMissingError(CobalanceError):
    """An evaluation has no class activation maps in the output folder."""


def maps_uri(evaluation: str) -> str:
    """Where an evaluation's maps are in the output folder.

    Examples
    --------
    >>> maps_uri("5f1c")
    'evaluations/5f1c/maps.parquet'
    """
    return f"{FOLDER}/{evaluation}/maps.parquet"


def write_maps(folder: OutputFolder, evaluation: str, maps: pd.DataFrame) -> str:
    """Write an evaluation's maps, with the columns `COLUMNS`; return their address."""
    buffer = io.BytesIO()
    maps[list(COLUMNS)].to_parquet(buffer, index=False)
    folder.write(maps_uri(evaluation), buffer.getvalue())
    return maps_uri(evaluation)


def read_maps(folder: OutputFolder, evaluation: str) -> pd.DataFrame:
    """Read an evaluation's maps.

    Raises
    ------
    MapsMissingError
        There are none.
    """
    try:
        content = folder.read(maps_uri(evaluation))
    except OutputMissingError as error:
        raise MapsMissingError(
            f"The evaluation {evaluation} has no class activation maps in {folder.place}."
        ) from error
    return pd.read_parquet(io.BytesIO(content))
