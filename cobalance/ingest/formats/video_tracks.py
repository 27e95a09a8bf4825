"""Frames of videos, from objects that tools follow through them by key frames."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cobalance.base import group_pairs
from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.tool_reader import Picture


@dataclass
class Track:
    """An object of a video: its places at key frames, from which it is seen in `spans`.

    A span is its first frame and the one after its last; frames count from 0. Between key frames
    an object stays where it was, or with `moves` upright boxes move on evenly.
    """

    concept: str
    places: Mapping[int, Mapping[str, Any]]
    spans: Sequence[tuple[int, int]]
    attributes: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    moves: bool = False

    def __post_init__(self) -> None:
        self._keys = sorted(self.places)

    def show(self, frame: int, picture: Picture) -> None:
        """Add the object to the picture of a frame."""
        if not self._keys:
            picture.add(self.concept, {}, self.attributes.get(frame))
            return

        position = max(0, bisect_right(self._keys, frame) - 1)
        key = self._keys[position]
        place = self.places[key]
        if self.moves and key < frame and position + 1 < len(self._keys):
            following = self._keys[position + 1]
            share = (frame - key) / (following - key)
            place = _between(place, self.places[following], share)

        picture.add(self.concept, place, self.attributes.get(key))


def _between(start: Mapping[str, Any], end: Mapping[str, Any], share: float) -> Mapping[str, Any]:
    """The place a share of the way from one box to another; the first where one has an outline."""
    if start.keys() != {"box"} or end.keys() != {"box"}:
        return start
    sides = zip(start["box"], end["box"], strict=True)
    return {"box": tuple(first + share * (last - first) for first, last in sides)}


def video_frames(
    video: str,
    n_frames: int,
    size: tuple[Any, Any],
    tracks: Sequence[Track],
    metadata: Mapping[str, Any] | None = None,
    file: str = "frame_{:06}.png",
) -> Iterator[Picture]:
    """Images of all frames of a video, whether they show anything or not.

    `file` is what the tool calls the pictures of frames.
    """
    starts = group_pairs((first, (last, track)) for track in tracks for first, last in track.spans)
    visible: list[tuple[int, Track]] = []

    for frame in range(n_frames):
        visible = [(last, track) for last, track in visible if frame < last]
        visible += starts.get(frame, ())

        picture = Picture(f"{video}/{file.format(frame)}", *size)
        picture.metadata = {**(metadata or {}), VIDEO: video}
        picture.frame = f"{video}#frame={frame}"
        for _, track in visible:
            track.show(frame, picture)
        yield picture
