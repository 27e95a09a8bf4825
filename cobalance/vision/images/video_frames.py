"""Frames of videos as images, by PyAV (FFmpeg), which is imported where a frame is read."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from io import BytesIO
from itertools import islice
from typing import Any

import numpy as np

from cobalance.base import CobalanceError, IntArray, needs_extra
from cobalance.vision.images.decoding import MAX_PIXELS
from cobalance.vision.images.image_file import ImageFile, ImageFileError

VIDEO_ENDINGS = (".avi", ".m4v", ".mkv", ".mov", ".mp4", ".webm")
"""Endings of videos whose frames are read."""
FRAME = re.compile(r"(?i)(?P<video>.+\.(?P<kind>avi|m4v|mkv|mov|mp4|webm))#frame=(?P<number>\d+)$")
"""The address of a frame, counted from 0 in the order in which frames are shown."""
# Others are QuickTime's, called mov.
_DEMUXERS = {"avi": "avi", "mkv": "matroska", "webm": "matroska"}


def frame_of(video: ImageFile, kind: str, number: int) -> ImageFile:
    """A frame of a video as a PNG file, turned as its video is shown; `kind` is its ending.

    Opening it decodes from the key frame before it; other frames are not decoded.
    """
    # By its ending alone: FFmpeg would also open playlists, which name other files.
    demuxer = _DEMUXERS.get(kind.lower(), "mov")
    return ImageFile(f"{video.identity}#frame={number}", partial(_open, video, demuxer, number))


def _open(video: ImageFile, demuxer: str, number: int) -> BytesIO:
    """Decode a frame to a PNG file."""
    times, starts = _index(video, demuxer)
    if number >= len(times):
        raise ImageFileError(f"The video has {len(times):,} frames, counted from 0.")

    with _stream(video, demuxer) as stream:
        # Frames that refer to later ones have no times in AVI: they are counted from the first.
        if demuxer == "avi" and stream.codec_context.has_b_frames:
            frame = next(islice(stream.container.decode(stream), number, None))
        else:
            stream.container.seek(int(starts[number]), stream=stream)
            decoded = stream.container.decode(stream)
            frame = next(frame for frame in decoded if frame.pts == times[number])

        png = BytesIO()
        frame.to_image().rotate(frame.rotation, expand=True).save(png, "PNG", compress_level=1)
    png.seek(0)
    return png


@lru_cache(maxsize=100)
def _index(video: ImageFile, demuxer: str) -> tuple[IntArray, IntArray]:
    """When each frame is shown, ascending, and where to decode from, in units of the stream."""
    frame_times: list[int] = []
    key_frames: list[tuple[int, int]] = []
    with _stream(video, demuxer) as stream:
        for packet in stream.container.demux(stream):
            if packet.pts is None:
                continue
            if not packet.is_discard:
                frame_times.append(packet.pts)
            if packet.is_keyframe:
                # Seeking goes by the time of decoding, where the file has it.
                start = packet.pts if packet.dts is None else packet.dts
                key_frames.append((packet.pts, start))

        times = np.sort(frame_times)
        key_times, starts = np.array(sorted(key_frames)).T
        before = np.searchsorted(key_times, times, side="right") - 1
        return times, starts[np.maximum(before, 0)]


@contextmanager
def _stream(video: ImageFile, demuxer: str) -> Iterator[Any]:
    """The video stream of a file; errors of FFmpeg in the ``with`` block are translated."""
    with needs_extra("Reading frames of videos", "video"):
        import av
    try:
        with video.open() as file, av.open(file, format=demuxer) as container:
            stream = container.streams.video[0]
            stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
            yield stream
    except (CobalanceError, OSError):
        raise
    except Exception as error:  # decoders of untrusted bytes may raise anything
        reason = getattr(error, "strerror", None) or str(error) or "it ends early"
        raise ImageFileError(f"The video is damaged: {reason}.") from error
