"""What holds a user's data is created for that user alone, and left alone where it exists."""

import os
import stat

import pytest

from cobalance.base.files import make_file, make_folder
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.jobs.queue_database import check_url
from cobalance.vision.images.regions import write_regions
from cobalance.vision.stored.output_folder import OutputFolder


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_missing_folders_are_private_and_others_stay(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    make_folder(shared / "home" / "generated")
    assert [mode(shared), mode(shared / "home"), mode(shared / "home" / "generated")] == [
        0o755,
        0o700,
        0o700,
    ]
    make_folder(shared)
    assert mode(shared) == 0o755
    make_file(shared / "a")
    (shared / "a").chmod(0o640)
    make_file(shared / "a")
    assert mode(shared / "a") == 0o640


def test_a_dangling_link_is_an_error_and_not_a_loop(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone" / "folder")
    with pytest.raises(OSError, match="exists"):
        make_folder(tmp_path / "link" / "below")


def test_the_job_queue(tmp_path):
    check_url(f"sqlite:///{tmp_path}/home/queue.sqlite")
    assert mode(tmp_path / "home" / "queue.sqlite") == 0o600
    assert mode(tmp_path / "home") == 0o700


@pytest.mark.parametrize("told", [None, 0o750])
def test_generated_images(tmp_path, told):
    place = tmp_path / "generated"
    if told is not None:
        place.mkdir()
        place.chmod(told)
    OutputFolder(str(place)).write("job/0.png", b"pixels")
    assert mode(place) == (told or 0o700)


def test_regions(tmp_path):
    mention = Mention("cow", box=(0.0, 0.0, 2.0, 2.0))
    annotations = Annotations.from_records([ImageRecord("1", "a", (mention,))])
    write_regions(tmp_path / "home" / "regions", "zoo", annotations)
    assert mode(tmp_path / "home" / "regions") == mode(tmp_path / "home") == 0o700
