"""Exports that fail, are killed or run twice leave what was there, and nothing else."""

import errno
import os
from contextlib import contextmanager

import pytest

from cobalance.generation.export import ExportError, export
from cobalance.generation.export.staging import Staging
from tests.generation.export.conftest import contents, one_image_a_file, only


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_an_interrupted_export_leaves_nothing(any_format, share, sample, tmp_path, monkeypatch):
    whole, opened = Staging.open, []

    def noted(staging, name):
        if name == stop:
            raise Interrupted
        opened.append(name)
        return whole(staging, name)

    stop = None
    monkeypatch.setattr(Staging, "open", noted)
    options = one_image_a_file(any_format)
    export(sample.dataset, any_format, tmp_path / "whole", options)
    stop = opened[round(share * (len(opened) - 1))]
    with pytest.raises(Interrupted):
        export(sample.dataset, any_format, tmp_path / "out", options)
    assert only(tmp_path) == ["whole"]


def test_an_interrupted_export_keeps_the_earlier_one(image_format, sample, tmp_path):
    export(sample.dataset, image_format, tmp_path / "out")
    before = contents(tmp_path / "out")
    del sample.stores.real["9.png"]
    with pytest.raises(ExportError):
        export(sample.dataset, image_format, tmp_path / "out")
    assert contents(tmp_path / "out") == before
    assert only(tmp_path) == ["out"]


def test_what_a_killed_export_left_is_cleared(any_format, sample, tmp_path):
    child = os.fork()
    if child == 0:  # as kill -9 does, this runs no cleanup
        Staging.seal = lambda *_: os._exit(9)
        export(sample.dataset, any_format, tmp_path / "out")
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert not (tmp_path / "out").exists()
    assert len(only(tmp_path)) == 2  # the hidden folder and its lock
    export(sample.dataset, any_format, tmp_path / "out")
    assert only(tmp_path) == ["out"]


def test_a_link_to_a_folder_stays_one(sample, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    export(sample.dataset, "folder", tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "disk" / "README.md").exists()


@pytest.mark.parametrize("share", [0, 0.3, 0.6, 0.99])
def test_a_full_disk_is_a_clear_error(any_format, share, sample, tmp_path, monkeypatch):
    room = share * export(sample.dataset, any_format, tmp_path / "out").bytes
    before = contents(tmp_path / "out")
    whole, written = Staging.open, [0]

    @contextmanager
    def nearly_full(staging, name):
        with whole(staging, name) as file:
            write = file.write

            def counted(data):
                written[0] += len(data)
                if written[0] > room:
                    raise OSError(errno.ENOSPC, "No space left on device")
                return write(data)

            file.write = counted
            yield file

    monkeypatch.setattr(Staging, "open", nearly_full)
    with pytest.raises(ExportError, match=r"No space left on device.*Make room"):
        export(sample.dataset, any_format, tmp_path / "out")
    assert contents(tmp_path / "out") == before
    assert only(tmp_path) == ["out"]


def test_a_folder_that_may_not_be_written_is_a_clear_error(sample, tmp_path, monkeypatch):
    export(sample.dataset, "folder", tmp_path / "out")
    before = contents(tmp_path / "out")

    def refused(source, target):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("cobalance.generation.export.staging.os.replace", refused)
    with pytest.raises(ExportError, match=r"Permission denied.*Let this user write"):
        export(sample.dataset, "folder", tmp_path / "out")
    assert contents(tmp_path / "out") == before
    assert only(tmp_path) == ["out"]


def test_two_exports_to_one_folder_do_not_mix(sample, tmp_path):
    seen = []

    def again(stage, done, total):
        if not seen:
            seen.append(stage)
            with pytest.raises(ExportError, match="another export is writing to this folder"):
                export(sample.dataset, "folder", tmp_path / "out")

    export(sample.dataset, "folder", tmp_path / "out", progress=again)
    assert seen
    assert only(tmp_path) == ["out"]
