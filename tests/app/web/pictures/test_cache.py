"""Pictures are cached, for many threads and processes."""

import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

from PIL import Image

from cobalance.app.web.pictures.cache import PictureCache
from cobalance.app.web.pictures.thumbnails import ImageFiles
from tests.app.web.pictures.conftest import BLUE, RED, cached, content, shows


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
from cobalance.app.web.pictures.thumbnails import ImageFiles
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
