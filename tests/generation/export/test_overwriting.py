"""What an export replaces: its own earlier one, and nothing that somebody did since."""

import os
import shutil
from dataclasses import replace

import pytest

from generation.export import EXPORTERS, ExportError, ExportOptions, export

LICENCE = "\nCC BY 4.0\n"


@pytest.fixture(params=list(EXPORTERS))
def any_format(request):
    return request.param


def test_the_same_export_is_replaced(any_format, sample, tmp_path):
    dataset = replace(sample.dataset, job="5f1c")
    export(dataset, any_format, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").stat().st_ino
    report = export(dataset, any_format, tmp_path / "out")
    assert report.counts["real images"] == 10
    assert (tmp_path / "out" / "README.md").stat().st_ino != card


@pytest.mark.parametrize("other", [{"job": "another"}, {"job": None}, {"name": "cars"}])
def test_another_export_is_not(other, any_format, sample, tmp_path):
    mine = replace(sample.dataset, job="5f1c")
    export(replace(mine, **other), any_format, tmp_path / "out")
    before = (tmp_path / "out" / "SHA256SUMS").read_bytes()
    with pytest.raises(ExportError, match=r"is another export: .*overwrite") as caught:
        export(mine, any_format, tmp_path / "out")
    job = other.get("job", "5f1c")
    assert (f"job {job}," in str(caught.value)) == (job is not None)
    assert (tmp_path / "out" / "SHA256SUMS").read_bytes() == before
    export(mine, any_format, tmp_path / "out", ExportOptions(overwrite=True))


@pytest.mark.parametrize("name", ["README.md", "croissant.json", "cobalance-export.json"])
def test_what_somebody_wrote_into_its_files_stays(name, any_format, sample, tmp_path):
    export(sample.dataset, any_format, tmp_path / "out")
    path = tmp_path / "out" / name
    times = path.stat()
    path.write_text(path.read_text() + LICENCE)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as an editor may keep them
    with pytest.raises(ExportError, match=rf"'{name}', which was changed after .*overwrite"):
        export(sample.dataset, any_format, tmp_path / "out")
    assert path.read_text().endswith(LICENCE)
    export(sample.dataset, any_format, tmp_path / "out", ExportOptions(overwrite=True))
    assert LICENCE not in path.read_text()


def test_so_does_an_image_that_was_retouched(sample, tmp_path):
    export(sample.dataset, "folder", tmp_path / "out")
    path = min((tmp_path / "out" / "images").iterdir())
    times, content = path.stat(), path.read_bytes()
    path.write_bytes(content[::-1])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(ExportError, match=f"'images/{path.name}', which was changed"):
        export(sample.dataset, "folder", tmp_path / "out")
    path.write_bytes(content)
    export(sample.dataset, "folder", tmp_path / "out")


def test_a_copy_that_keeps_times_is_read_again(sample, tmp_path):
    export(sample.dataset, "folder", tmp_path / "one")
    path = min((tmp_path / "one" / "images").iterdir())
    path.write_bytes(path.read_bytes()[::-1])
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    with pytest.raises(ExportError, match=f"'images/{path.name}', which was changed"):
        export(sample.dataset, "folder", tmp_path / "two")


def test_what_is_gone_is_written_again(sample, tmp_path):
    export(sample.dataset, "folder", tmp_path / "out")
    path = min((tmp_path / "out" / "images").iterdir())
    path.unlink()
    export(sample.dataset, "folder", tmp_path / "out")
    assert path.exists()


def test_an_edit_during_an_export_stays(sample, tmp_path):
    export(sample.dataset, "folder", tmp_path / "out")
    card = tmp_path / "out" / "README.md"

    def edit(stage, done, total):
        if done == total:
            card.write_text(LICENCE)

    with pytest.raises(ExportError, match=r"'README.md', which was changed"):
        export(sample.dataset, "folder", tmp_path / "out", progress=edit)
    assert card.read_text() == LICENCE


def test_digests_without_a_marker_are_no_export(sample, tmp_path):
    export(sample.dataset, "weights", tmp_path / "out")
    (tmp_path / "out" / "cobalance-export.json").unlink()
    with pytest.raises(ExportError, match="which no export wrote"):
        export(sample.dataset, "weights", tmp_path / "out")
