"""Image files as pictures: what is shown, what is refused, and that nothing raises."""

import os
import random
import socket
import struct
import subprocess
import sys
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import fsspec
import numpy as np
import pandas as pd
import pytest
from PIL import ExifTags, Image

from app.pictures import GalleryImage, ImageFiles
from app.pictures.cache import PictureCache
from app.pictures.drawing import draw_regions
from app.settings import Settings
from graph.records import Annotations, ImageRecord, Mention
from ingest.images.image_file import MAX_BYTES
from ingest.images.regions import read_regions, write_regions

RED, BLUE = (220, 30, 30), (30, 30, 220)
HOSTILE = (
    "long " * 60,
    "\u0634\u0627\u0631\u0639 \U0001f6e3\ufe0f",
    "\u202egpj.exe",
    "<script>alert(1)</script>",
    "a\x00b\nc\x1b[31m",
    "Z\u0351\u036b\u0343\u036a" * 40,
    "\ud800",
    "",
    " ",
)


def content(size=(40, 30), color=RED, kind="PNG", **options):
    file = BytesIO()
    Image.new("RGB", size, color).save(file, kind, **options)
    return file.getvalue()


def pixels(picture):
    """The picture as a browser would decode it."""
    with Image.open(BytesIO(picture.data)) as image:
        assert image.format == "JPEG"
        assert image.size == (picture.width_px, picture.height_px)
        return np.asarray(image.convert("RGB")).astype(int)


def close(found, color, tolerance=30):
    return bool((np.abs(found - np.array(color)) <= tolerance).all())


def shows(picture, color):
    return picture.problem is None and close(pixels(picture).mean(axis=(0, 1)), color)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    return folder


@pytest.fixture
def files(root, tmp_path):
    return ImageFiles([str(root)], tmp_path / "cache")


def refused(files, uri):
    """The problem with a file, after a look that a placeholder shows it."""
    picture = files.thumbnail(uri, 200)
    assert picture.problem is not None
    assert picture.problem.endswith(".")
    assert (picture.width_px, picture.height_px) == (200, 150)
    assert pixels(picture).min() < 140  # something is written on it
    return picture.problem


# What is found


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


def test_roots_from_the_environment(root, monkeypatch):
    monkeypatch.setenv("COBALANCE_IMAGES", f"{root}:/data/x, s3://bucket/a ,\n")
    assert Settings.from_environment().image_roots() == (str(root), "/data/x", "s3://bucket/a")
    monkeypatch.delenv("COBALANCE_IMAGES")
    assert Settings.from_environment().image_roots() == ()


# What is refused


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
    assert files.full(uri).problem
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


def bomb(width=30_000, height=30_000):
    """A PNG of so many black pixels, in few bytes."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    pack = zlib.compressobj(9)
    row = b"\0" * (1 + (width + 7) // 8)
    rows = b"".join(pack.compress(row) for _ in range(height)) + pack.flush()
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", rows), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize(("width", "height"), [(30_000, 30_000), (10_000, 10_000), (90_000_000, 1)])
def test_decompression_bombs(files, root, width, height):
    data = bomb(width, height)
    assert len(data) < 200_000
    (root / "bomb.png").write_bytes(data)
    assert "million pixels" in refused(files, "bomb.png")


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


# What is shown


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
    assert files.full("wide.png").width_px == 1600
    assert files.full("wide.png", 800).width_px == 800


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


def saved(image, kind="PNG", **options):
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


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


# The cache


def cached(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")


def test_pictures_are_kept(files, root, tmp_path):
    (root / "a.png").write_bytes(content())
    first = files.thumbnail("a.png")
    (path,) = cached(tmp_path / "cache")
    another = Image.new("RGB", (40, 30), BLUE)
    another.save(path, "JPEG", comment=b"40 30")
    assert shows(files.thumbnail("a.png"), BLUE)  # not made again
    path.write_bytes(first.data[:-9])
    assert files.thumbnail("a.png") == first  # made again, since what was kept is broken
    path.write_bytes(b"")
    assert files.thumbnail("a.png") == first
    files.thumbnail("a.png", 20)
    assert len(cached(tmp_path / "cache")) == 2


def test_the_cache_is_bounded_and_keeps_what_is_used(tmp_path):
    cache = PictureCache(tmp_path, limit_bytes=100_000)
    for number in range(300):
        cache.put(f"{number:064d}", bytes(1_000))
        path = cached(tmp_path)[-1]
        os.utime(path, (number, number))  # as if made long ago, one after the other
        cache.get(f"{0:064d}")
    total = sum(path.stat().st_size for path in cached(tmp_path))
    assert 70_000 < total <= 105_000
    assert cache.get(f"{0:064d}") is not None
    assert cache.get(f"{1:064d}") is None
    assert cache.get(f"{299:064d}") is not None


def test_a_cache_that_cannot_be_written(root, tmp_path):
    (root / "a.png").write_bytes(content())
    (tmp_path / "file").touch()
    assert shows(ImageFiles([str(root)], tmp_path / "file").thumbnail("a.png"), RED)


def thumbnails_of_threads(root, cache):
    """Thumbnails of twenty images, ten times each, by ten threads, with a cache that is small."""
    files = ImageFiles([root], cache, cache_bytes=30_000)
    with ThreadPoolExecutor(10) as threads:
        names = [f"{number % 20}.png" for number in range(200)]
        return list(threads.map(files.thumbnail, names))


PROCESS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from app.pictures import ImageFiles
files = ImageFiles([sys.argv[1]], Path(sys.argv[2]), cache_bytes=30_000)
with ThreadPoolExecutor(10) as threads:
    for picture in threads.map(files.thumbnail, [f"{n % 20}.png" for n in range(200)]):
        assert picture.problem is None and len(picture.data) > 500
"""


def test_many_threads_and_processes(root, tmp_path):
    for number in range(20):
        (root / f"{number}.png").write_bytes(content((300 + number, 200)))
    cache = tmp_path / "cache"
    command = [sys.executable, "-W", "error", "-c", PROCESS, str(root), str(cache)]
    others = [subprocess.Popen(command) for _ in range(2)]
    assert all(shows(picture, RED) for picture in thumbnails_of_threads(str(root), cache))
    assert [other.wait(300) for other in others] == [0, 0]
    assert not list(cache.rglob("*.tmp"))


def test_one_archive_for_many_threads(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"{number}.png", content((300 + number, 200)))
    found = thumbnails_of_threads(str(tmp_path / "a.zip"), tmp_path / "cache")
    assert all(shows(picture, RED) for picture in found)


# Regions


@pytest.fixture
def regions(tmp_path):
    """Regions of one image by way of their file, as pages get them."""

    def make(*mentions, size=(400, 300)):
        record = ImageRecord("a", "street", mentions, None, None, *size)
        write_regions(tmp_path, "d", Annotations.from_records([record]), replace=True)
        return read_regions(tmp_path, "d", ["a"])

    return make


def region(concept="cow", box=(100, 60, 200, 150), segmentation=None, score=None):
    return Mention(concept, score=score, box=box, segmentation=segmentation)


COLORS = {"cow": "#D55E00"}
ORANGE = (213, 94, 0)
SQUARE = "[[100,60,300,60,300,210,100,210]]"


@pytest.mark.parametrize("paper", ["white", "black", "grey", "#D55E00"])
def test_boxes_stand_out(regions, paper):
    image = draw_regions(Image.new("RGB", (400, 300), paper), regions(region()), COLORS)
    with Image.open(BytesIO(saved(image, "JPEG", quality=88, subsampling=0))) as sent:
        shown = np.asarray(sent).astype(int)
    below = np.array(Image.new("RGB", (1, 1), paper)).reshape(3)
    edge = shown[200:216, 150]  # down across the lower edge
    assert np.abs(edge - below).sum(axis=1).max() > 150  # some line differs from the paper
    assert close(shown[210, 150:250].mean(axis=0), ORANGE, 40)
    assert close(shown[130, 200], below)  # nothing inside
    assert close(shown[280, 200], below)  # nor outside
    label = shown[44:60, 100:140].reshape(-1, 3)
    assert label.mean(axis=1).max() - label.mean(axis=1).min() > 90  # its text


def test_masks(regions):
    paper = Image.new("RGB", (400, 300), "white")
    shape = '{"size":[300,400],"counts":[30060,150,89790]}'  # a column of pixels
    for segmentation, column in ((SQUARE, 200), (shape, 100)):
        found = regions(region(segmentation=segmentation))
        drawn = draw_regions(paper.copy(), found, COLORS)
        assert not close(np.asarray(drawn)[130, column].astype(int), (255, 255, 255))
        drawn = draw_regions(paper.copy(), found, COLORS, masks=False)
        assert close(np.asarray(drawn)[130, 200].astype(int), (255, 255, 255))


def test_regions_are_scaled_to_the_picture(files, root, regions):
    (root / "a.png").write_bytes(content((2000, 1500), "white"))
    found = regions(region(segmentation=SQUARE), size=(400, 300))
    for size in (1600, 200):
        shown = pixels(files.with_regions("a.png", found, COLORS, size))
        height, width = shown.shape[:2]
        assert (width, height) == (size, size * 3 // 4)
        inside = shown[height * 130 // 300, width // 2]
        assert not close(inside, (255, 255, 255))
        assert close(shown[height * 130 // 300, width * 330 // 400], (255, 255, 255))


def test_the_file_gives_the_scale_where_the_annotations_do_not(files, root, regions):
    (root / "a.png").write_bytes(content((2000, 1500), "white"))
    found = regions(region(box=(1500, 1000, 400, 400)), size=(None, None))
    shown = pixels(files.with_regions("a.png", found, COLORS, 200))
    assert not close(shown[140, 150:190].mean(axis=0), (255, 255, 255))
    assert close(shown[:90].mean(axis=(0, 1)), (255, 255, 255), 3)


@pytest.mark.parametrize(("size", "upright"), [((300, 400), True), ((400, 300), False)])
def test_regions_of_a_picture_that_exif_turns(files, root, regions, size, upright):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    (root / "a.jpg").write_bytes(content((400, 300), "white", "JPEG", exif=exif))
    picture = files.with_regions("a.jpg", regions(region(), size=size), COLORS)
    assert (picture.height_px > picture.width_px) == upright


@pytest.mark.parametrize("name", [*HOSTILE[:6], "a"])
def test_hostile_regions(files, root, regions, name):
    (root / "a.png").write_bytes(content((400, 300)))
    (root / "dot.png").write_bytes(content((1, 1)))
    far = float(2**40)
    found = regions(
        region(name),
        region(name, (-50, -50, 1000, 1000)),
        region(name, (-500, 0, 10, 10)),
        region(name, (400, 300, 1, 1)),
        region(name, (399, 299, 0, 0)),
        region(name, (-far, -far, far, far)),
        region(name, (0, 0, far, far)),
        region(name, (float("inf"), 0, 1, 1)),
        region(name, None, "[[0,0,9,9]]"),
        region(name, None, SQUARE),
        region(name, None, "[1,2"),
        region(name, None, '{"size":[9999999,9999999],"counts":"x"}'),
        region(name, None, "[[-1000,-1000,5000,-1000,5000,5000]]"),
        *[region(name, (n, n, 5, 5), score=0.5) for n in range(300)],
    )
    for uri in ("a.png", "dot.png"):
        for size in (1600, 100, 1):
            assert files.with_regions(uri, found, {name: "no colour"}, size).problem is None


def test_boxes_outside_are_left_out(files, root, regions):
    (root / "a.png").write_bytes(content((400, 300), "white"))
    found = regions(region(box=(500, 10, 30, 30)), region(box=(10, -90, 30, 30)))
    assert pixels(files.with_regions("a.png", found, COLORS)).min() > 240


def test_pictures_with_regions_are_kept(files, root, regions, tmp_path):
    (root / "a.png").write_bytes(content((400, 300)))
    found = regions(region(segmentation=SQUARE))
    first = files.with_regions("a.png", found, COLORS)
    n_kept = len(cached(tmp_path / "cache"))
    assert files.with_regions("a.png", found, COLORS) == first
    assert len(cached(tmp_path / "cache")) == n_kept
    for other in (
        files.with_regions("a.png", found, {"cow": "blue"}),
        files.with_regions("a.png", found, COLORS, masks=False),
        files.with_regions("a.png", regions(region()), COLORS),
        files.with_regions("a.png", found.iloc[:0], COLORS),
    ):
        assert other.data != first.data


def test_gallery(files, root, tmp_path):
    records = []
    for number in range(12):
        name = f"{number}.png"
        (root / name).write_bytes(content((400, 300), "white"))
        mentions = [region()] if number % 2 else []
        records.append(ImageRecord(f"id {number}", "street", tuple(mentions), None, name, 400, 300))
    write_regions(tmp_path, "d", Annotations.from_records(records))
    ids = [record.id for record in records]
    images = [GalleryImage(record.id, record.uri) for record in records]
    images.append(GalleryImage("id 99", "none.png"))
    found = files.gallery(images, read_regions(tmp_path, "d", ids), COLORS, 200)
    drawn_on = [pixels(picture).min() < 200 for picture in found[:-1]]
    assert drawn_on == [bool(number % 2) for number in range(12)]
    assert "no such file" in str(found[-1].problem)
    assert files.gallery([], pd.DataFrame({"id": []}), COLORS) == []
