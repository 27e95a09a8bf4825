"""Frames of real videos, read by number, against all of their frames decoded in order."""

import struct
import sys
from io import BytesIO

import av
import numpy as np
import pytest
from PIL import Image

from cobalance.base.errors import MissingExtraError
from cobalance.vision.images.image_file import ImageFileError
from cobalance.vision.images.roots import ImageRoots

WIDTH, HEIGHT = 32, 16


def write_video(path, codec="libx264", frames=30):
    """A video with another grey in each frame, some of which depend on later ones."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25)
        stream.width, stream.height = WIDTH, HEIGHT
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.gop_size = 12
        if codec in ("libx264", "mpeg4"):
            stream.codec_context.max_b_frames = 2
        for number in range(frames):
            grey = np.full((HEIGHT, WIDTH, 3), 8 * number, np.uint8)
            grey[:, : WIDTH // 2] = 255
            container.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        container.mux(stream.encode())


def frame(folder, uri):
    return np.asarray(Image.open(BytesIO(ImageRoots([str(folder)]).find(uri).read())))


@pytest.mark.parametrize(
    ("name", "codec"),
    [("a.mp4", "libx264"), ("a.MOV", "mpeg4"), ("a.mkv", "libx264"), ("a.webm", "libvpx-vp9"),
     ("a.avi", "mpeg4"), ("b.avi", "mjpeg")],
)  # fmt: skip
def test_every_frame_is_that_of_its_number(name, codec, tmp_path):
    write_video(tmp_path / name, codec)
    with av.open(str(tmp_path / name)) as container:
        shown = [one.to_ndarray(format="rgb24") for one in container.decode(video=0)]
    assert len(shown) == 30
    for number in (29, 0, 1, 2, 11, 12, 13, 25):
        assert np.array_equal(frame(tmp_path, f"{name}#frame={number}"), shown[number])


def test_a_video_is_turned_as_it_is_shown(tmp_path):
    write_video(tmp_path / "a.mp4")
    content = bytearray((tmp_path / "a.mp4").read_bytes())
    matrix = content.index(b"tkhd") + 44
    content[matrix : matrix + 20] = struct.pack(">5i", 0, 1 << 16, 0, -1 << 16, 0)  # clockwise
    (tmp_path / "b.mp4").write_bytes(content)
    with av.open(str(tmp_path / "b.mp4")) as container:
        stored = next(container.decode(video=0)).to_ndarray(format="rgb24")
    assert stored.shape == (HEIGHT, WIDTH, 3)
    assert np.array_equal(frame(tmp_path, "b.mp4#frame=0"), np.rot90(stored, -1))


@pytest.mark.parametrize(
    ("content", "number", "reason"),
    [
        (None, 30, "has 30 frames, counted from 0"),
        (slice(0, 900), 0, "damaged"),
        (b"#EXTM3U\n#EXTINF:1\nfile:///etc/passwd\n", 0, "damaged"),  # names another file
    ],
)
def test_a_frame_that_cannot_be_read_is_refused(content, number, reason, tmp_path):
    path = tmp_path / "a.mp4"
    write_video(path)
    if content is not None:
        path.write_bytes(path.read_bytes()[content] if isinstance(content, slice) else content)
    with pytest.raises(ImageFileError, match=reason):
        frame(tmp_path, f"a.mp4#frame={number}")


def test_a_large_video_is_read_where_an_image_of_its_size_is_not(tmp_path, monkeypatch):
    write_video(tmp_path / "a.mp4")
    monkeypatch.setattr("cobalance.vision.images.image_file.MAX_BYTES", 1000)
    assert (tmp_path / "a.mp4").stat().st_size > 1000
    roots = ImageRoots([str(tmp_path)])
    with pytest.raises(ImageFileError, match="larger than"):
        roots.find("a.mp4").read()
    assert len(roots.find("a.mp4#frame=7").read()) < 1000


def test_without_its_extra_a_frame_says_what_to_install(tmp_path, monkeypatch):
    write_video(tmp_path / "a.mp4")
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtraError, match="video"):
        frame(tmp_path, "a.mp4#frame=0")
