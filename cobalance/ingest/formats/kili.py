"""Kili's raw export: assets with the answers to the jobs of their project.

https://docs.kili-technology.com/docs/data-format
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.answers import gather
from cobalance.ingest.formats.json_records import json_reader
from cobalance.ingest.formats.tool_reader import Picture
from cobalance.ingest.reader import format_of
from cobalance.vision import Point, place_of, place_of_parts

_AREAS = ("polygon", "semantic")


def _kili(asset: Any, _beside: Mapping[str, Any], _file: str) -> Iterator[Picture]:
    """The image of an asset, or the frames of its video, with its latest label."""
    name = asset.get("externalId") or asset["id"]
    if asset.get("pageResolutions"):
        raise ValueError(f"{name!r} is a document, and no image")

    size = asset.get("resolution") or {}
    picture = Picture(name, size.get("width"), size.get("height"))
    labels = [asset["latestLabel"]] if asset.get("latestLabel") else asset.get("labels") or []
    labels.sort(key=lambda label: not label.get("isLatestLabelForUser"))
    jobs = labels[0]["jsonResponse"] if labels else {}
    if not jobs or not all(map(str.isdecimal, jobs)):
        _show(jobs, picture)
        yield picture
    else:
        for number, frame_jobs in jobs.items():
            frame = Picture(f"{name}/frame_{int(number):06}.png", picture.width, picture.height)
            frame.metadata, frame.frame = {VIDEO: name}, f"{name}#frame={number}"
            _show(frame_jobs, frame)
            yield frame


def _show(jobs: Mapping[str, Any], picture: Picture) -> None:
    """Add the answers to all jobs to a picture."""
    picture.metadata |= gather(_answers(jobs))
    for job in jobs.values():
        for annotation in job.get("annotations") or ():
            place = _place(annotation, (picture.width, picture.height))
            answers = gather(_answers(annotation.get("children") or {}))
            for category in annotation.get("categories") or ():
                picture.add(category["name"], place, answers)


def _answers(jobs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names of jobs with their answers, also of jobs that an answer opens."""
    for name, job in jobs.items():
        for category in job.get("categories") or ():
            yield name, category["name"]
            yield from _answers(category.get("children") or {})
        if job.get("text"):
            yield name, job["text"]


def _place(annotation: Any, size: tuple[Any, Any]) -> dict[str, Any]:
    """Box and outlines of an annotation, whose points are relative; none without a size."""
    width, height = size
    if not (width and height):
        return {}

    def points_of(vertices: Any) -> list[Point]:
        return [(vertex["x"] * width, vertex["y"] * height) for vertex in vertices]

    if polygons := annotation.get("boundingPoly"):
        parts = [points_of(polygon["normalizedVertices"]) for polygon in polygons]
        if annotation.get("type") in _AREAS:
            return place_of_parts(parts, cuts_holes=True)
        return place_of(list(chain.from_iterable(parts)), is_area=False)

    spots = [part["point"] for part in annotation.get("points") or () if "point" in part]
    spots += annotation.get("polyline") or ()
    spots += [annotation["point"]] if "point" in annotation else []
    return place_of(points_of(spots), is_area=False)


PLUGIN = format_of("kili", json_reader("Kili's raw JSON", _kili, "externalId", "jsonResponse"))
