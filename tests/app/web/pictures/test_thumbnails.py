"""Pictures of image files: which are found and which refused, their size and orientation."""

import os
import random
import socket
import struct
import zipfile
import zlib
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import fsspec
import numpy as np
import pytest
from PIL import ExifTags, Image

from cobalance.app.web.pictures.thumbnails import ImageFiles
from cobalance.vision.images.image_file import MAX_BYTES
from cobalance.workflows.settings import Settings
from tests.app.web.pictures.conftest import (
    BLUE,
    HOSTILE,
    RED,
    close,
    content,
    pixels,
    refused,
    saved,
    shows,
)


def test_paths_of_all_kinds(files, root):
    (root / "train").mkdir()
    path = root / "train" / "a b.jpg"
    path.write_bytes(content(kind="JPEG"))
    for uri in (
        "train/a b.jpg",
        "./train//a b.jpg",
        "train/../train/a b.jpg",
        "train\\a b.jpg",
        str(path),
        f"file://{path}",
        path.as_uri(),
    ):
        assert shows(files.thumbnail(uri), RED), uri


def test_roots_are_searched_in_order(tmp_path, root):
    other = tmp_path / "other"
    other.mkdir()
    for folder, name, color in ((root, "a", RED), (other, "a", BLUE), (other, "b", BLUE)):
        (folder / name).write_bytes(content(color=color))
    files = ImageFiles([str(root), str(tmp_path / "none"), f"file://{other}"], tmp_path / "cache")
    assert shows(files.thumbnail("a"), RED)
    assert shows(files.thumbnail("b"), BLUE)
    assert shows(files.thumbnail(str(other / "a")), BLUE)
    (root / "b").symlink_to(other / "b")  # from a root to another one
    assert shows(files.thumbnail(str(root / "b")), BLUE)


def test_a_root_may_come_later(tmp_path):
    files = ImageFiles([str(tmp_path / "later")], tmp_path / "cache")
    assert "no such file" in refused(files, "a.png")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.png").write_bytes(content())
    assert shows(files.thumbnail("a.png"), RED)


def test_a_file_that_changes(files, root):
    (root / "a.png").write_bytes(content())
    assert shows(files.thumbnail("a.png"), RED)
    (root / "a.png").write_bytes(content((41, 30), BLUE))
    assert shows(files.thumbnail("a.png"), BLUE)
    (root / "a.png").unlink()
    assert "no such file" in refused(files, "a.png")


def test_file_systems(tmp_path):
    memory = fsspec.filesystem("memory")
    memory.pipe("/pictures/train/a.png", content(color=BLUE))
    memory.pipe("/secret.png", content())
    files = ImageFiles(["memory://pictures"], tmp_path / "cache")
    assert shows(files.thumbnail("train/a.png"), BLUE)
    assert shows(files.thumbnail("memory://pictures/train/a.png"), BLUE)
    assert "folder" in refused(files, "train")
    for uri in ("../secret.png", "train/../../secret.png", "%2e%2e/secret.png", "..\\secret.png"):
        assert "leads out" in refused(files, uri), uri
    for uri in ("memory://secret.png", "memory://pictures/../secret.png", "/secret.png"):
        assert refused(files, uri), uri
    memory.pipe("/pictures/train/a.png", content())
    assert shows(files.thumbnail("train/a.png"), RED)


def test_zip_files(tmp_path):
    path = tmp_path / "Images.ZIP"

    def write(color):
        with zipfile.ZipFile(tmp_path / "new", "w") as archive:
            archive.writestr("train/a.png", content(color=color))
        os.replace(tmp_path / "new", path)

    write(RED)
    files = ImageFiles([str(path), f"zip://train::file://{path}"], tmp_path / "cache")
    assert shows(files.thumbnail("train/a.png"), RED)
    assert shows(files.thumbnail("a.png"), RED)
    assert "leads out" in refused(files, "../a.png")
    write(BLUE)
    assert shows(files.thumbnail("train/a.png"), BLUE)
    path.write_bytes(b"no archive")
    assert refused(files, "train/a.png")
    path.unlink()
    assert refused(files, "train/a.png")


def test_roots_from_the_environment(root, tmp_path, monkeypatch):
    monkeypatch.setenv("COBALANCE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COBALANCE_IMAGES", f"{root}:/data/x, s3://bucket/a ,\n")
    assert Settings.from_environment().folders().image_roots() == (
        str(root),
        "/data/x",
        "s3://bucket/a",
    )
    monkeypatch.delenv("COBALANCE_IMAGES")
    assert Settings.from_environment().folders().image_roots() == ()


def test_what_is_outside(files, root, tmp_path):
    secret = tmp_path / "images-secret"
    secret.mkdir()
    (secret / "a.png").write_bytes(content())
    (root / "link.png").symlink_to(secret / "a.png")
    (root / "folder").symlink_to(secret)
    for uri in (
        "link.png",
        "folder/a.png",
        "../images-secret/a.png",
        str(secret / "a.png"),
        f"file://{secret}/a.png",
        "/etc/passwd",
        "../../../../../../etc/passwd",
        "../images-secret/none.png",  # whether it is there is nobody's business
    ):
        assert "leads out" in refused(files, uri), uri
    files = ImageFiles([str(tmp_path / "images/"), str(secret)], tmp_path / "cache")
    assert shows(files.thumbnail("link.png"), RED)


def test_no_other_protocol_is_opened(files, tmp_path):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(0)
        address = "{}:{}".format(*server.getsockname())
        memory = ImageFiles(["memory://pictures"], tmp_path / "cache")
        for uri in (
            f"http://{address}/a.png",
            f"ftp://{address}/a.png",
            f"simplecache::http://{address}/a.png",
            f"zip://a.png::http://{address}/a.zip",
            f"memory://pictures/http://{address}/a.png",
            f"//{address}/a.png",
        ):
            assert refused(files, uri), uri
            assert refused(memory, uri), uri
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("url", ["nonsense://a", "s3://bucket/a", "http://127.0.0.1:1/a"])
def test_roots_that_cannot_be_opened(tmp_path, url):
    files = ImageFiles([url], tmp_path / "cache")
    assert "cannot be read" in refused(files, "a.png")


def test_what_is_no_file(files, root):
    (root / "folder").mkdir()
    os.mkfifo(root / "fifo")
    (root / "device").symlink_to("/dev/zero")
    (root / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        assert "folder" in refused(files, "folder")
        assert "folder" in refused(files, ".")
        assert "regular" in refused(files, "fifo")
        assert "leads out" in refused(files, "device")
        assert "regular" in refused(files, "socket")
        assert refused(files, "loop")
        assert "no such file" in refused(files, "folder/none.png")
        assert "no such file" in refused(files, "none/a.png")
        assert "too long" in refused(files, "a" * 5000)


def test_no_uri_and_no_roots(files, tmp_path):
    assert "name no file" in refused(files, None)
    assert "name no file" in refused(files, "")
    assert "COBALANCE_IMAGES" in refused(ImageFiles([], tmp_path), "a.png")


@pytest.mark.parametrize("uri", HOSTILE)
def test_hostile_uris(files, uri):
    assert refused(files, uri)
    assert files.thumbnail(uri, 1600).problem
    assert files.thumbnail(uri, 1).problem


@contextmanager
def as_nobody():
    """Not as the superuser, who may read everything."""
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(65534)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)


def test_permission_denied(tmp_path):
    with TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        for uri, closed in (("a.png", "a.png"), ("closed/a.png", "closed")):
            path = Path(name, uri)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content())
            Path(name, closed).chmod(0)
            with as_nobody():
                problem = refused(ImageFiles([name], tmp_path / "cache"), uri)
            assert "Permission denied" in problem
            Path(name, closed).chmod(0o700)


def black_png(width, height):
    """A PNG of so many black pixels, of one bit each."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    pack = zlib.compressobj(9)
    row = b"\0" * (1 + (width + 7) // 8)
    rows = b"".join(pack.compress(row) for _ in range(height)) + pack.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", rows), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize(("width", "height"), [(9_460, 9_460), (13_400, 13_400)])
def test_too_many_pixels(files, root, width, height):
    """A little beyond the limit where Pillow warns, and beyond that where it refuses."""
    (root / "black.png").write_bytes(black_png(width, height))
    assert "million pixels" in refused(files, "black.png")


def test_too_many_bytes(files, root, tmp_path):
    with (root / "large.jpg").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert "larger than 200 MB" in refused(files, "large.jpg")
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(root / "large.jpg", "large.jpg")
    zipped = ImageFiles([str(tmp_path / "a.zip")], tmp_path / "cache")
    assert "larger than 200 MB" in refused(zipped, "large.jpg")


def test_what_is_no_image(files, root):
    noise = np.random.default_rng(0).integers(0, 255, (90, 90, 3), dtype=np.uint8)
    file = BytesIO()
    Image.fromarray(noise).save(file, "JPEG")
    (root / "cut.jpg").write_bytes(file.getvalue()[:3000])
    assert "truncated" in refused(files, "cut.jpg")
    (root / "empty.jpg").touch()
    (root / "text.jpg").write_text("<svg/>")
    (root / "code.eps").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    for name in ("empty.jpg", "text.jpg", "code.eps"):
        assert "supported format" in refused(files, name)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP", "PPM"])
def test_broken_bytes_never_raise(files, root, kind):
    """Bytes changed and cut at random, reproducibly."""
    rng = random.Random(kind)
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    options = {} if kind in ("GIF", "BMP", "PPM") else {"exif": exif}
    sound = content((50, 40), kind=kind, **options)
    for turn in range(60):
        data = bytearray(sound)
        for _ in range(rng.choice([1, 3, 20])):
            data[rng.randrange(min(len(data), 400))] = rng.randrange(256)
        (root / f"{turn}").write_bytes(data[: rng.randrange(len(data) // 2, len(data) + 1)])
        picture = files.thumbnail(f"{turn}")
        assert pixels(picture).size
        assert picture.problem is None or picture.problem.endswith(".")


def test_sizes(files, root):
    (root / "wide.png").write_bytes(content((4000, 100)))
    (root / "small.png").write_bytes(content((20, 10)))
    sizes = {
        (name, size): (picture.width_px, picture.height_px)
        for name in ("wide.png", "small.png")
        for size in (256, 16)
        for picture in [files.thumbnail(name, size)]
    }
    assert sizes["wide.png", 256][0] == 256
    assert sizes["wide.png", 16] == (16, 1)
    assert sizes["small.png", 256] == (20, 10)
    assert files.thumbnail("wide.png", 1600).width_px == 1600


def halves(size, **options):
    """An image whose upper half is red."""
    image = Image.new("RGB", size, BLUE)
    image.paste(RED, (0, 0, size[0], size[1] // 2))
    file = BytesIO()
    image.save(file, **options)
    return file.getvalue()


# Where the row that is stored first has to be shown.
SIDES = {1: "top", 2: "top", 3: "bottom", 4: "bottom", 5: "left", 6: "right", 7: "right", 8: "left"}


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize(("orientation", "side"), SIDES.items())
def test_exif_orientation(files, root, orientation, side, kind):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    (root / "a").write_bytes(halves((400, 200), format=kind, exif=exif))
    picture = files.thumbnail("a", 100)
    assert (picture.width_px > picture.height_px) == (orientation < 5)
    shown = pixels(picture)
    edge = {"top": shown[:9], "bottom": shown[-9:], "left": shown[:, :9], "right": shown[:, -9:]}
    assert close(edge[side].mean(axis=(0, 1)), RED)


def test_modes(files, root):
    deep = Image.fromarray(np.full((30, 40), 40_000, dtype=np.uint16))
    floats = Image.fromarray(np.full((30, 40), 100.0, dtype=np.float32))
    clear = Image.new("RGBA", (40, 30), (*RED, 0))
    indexed = Image.new("RGB", (40, 30), RED).convert("P")
    for name, data, color in (
        ("deep", saved(deep), (156, 156, 156)),
        ("floats", saved(floats, "TIFF"), (100, 100, 100)),
        ("clear", saved(clear), (255, 255, 255)),
        ("indexed", saved(indexed), RED),
        ("grey", saved(Image.new("L", (40, 30), 90)), (90, 90, 90)),
        ("bits", saved(Image.new("1", (40, 30), 1)), (255, 255, 255)),
        ("ink", saved(Image.new("CMYK", (40, 30), (0, 255, 255, 30)), "JPEG"), RED),
    ):
        (root / name).write_bytes(data)
        assert shows(files.thumbnail(name), color), name


def test_the_edge_of_a_mask_is_drawn_and_nothing_else(files, root):
    Image.new("RGB", (90, 60), (0, 0, 0)).save(root / "image.png")
    mask = Image.new("1", (180, 120))  # of the same shape, twice as large
    mask.paste(1, (60, 40, 120, 80))
    mask.save(root / "mask.png")
    plain = pixels(files.thumbnail("image.png"))
    for _ in range(2):  # the second time from the cache
        shown = pixels(files.with_mask("image.png", "mask.png", "#ff0000"))
        changed = np.abs(shown.astype(int) - plain).max(axis=2) > 60
        assert not changed[22:38, 33:57].any()  # inside
        assert changed[19, 30:60].all()  # the edge above
        assert changed[30, 29]
        assert not changed[:15].any()
        assert not changed[:, 66:].any()
    for missing in (None, "gone.png", "../outside.png"):
        assert np.array_equal(pixels(files.with_mask("image.png", missing, "#ff0000")), plain)
    assert files.with_mask("gone.png", "mask.png", "#ff0000").problem
