"""Imports read from the folders that the settings name, and from nowhere else."""

from pathlib import Path

import pytest

from cobalance.base.errors import InputError, OptionError
from cobalance.base.progress import silent
from cobalance.graph.database.store import GraphStore
from cobalance.ingest.options import ReadOptions
from cobalance.workflows.load.check import ImportRequest, check_import
from cobalance.workflows.load.sources import ServerFolder, import_roots, inside, inside_any
from cobalance.workflows.settings import Settings

ROWS = b"id,label,objects\n1,country,cow|road\n2,country,\n3,urban,road\n4,urban,cow\n5,,cow\n"


def test_folders_that_may_be_loaded_from(tmp_path) -> None:
    settings = Settings()
    assert import_roots(settings, None) == ()
    assert import_roots(settings, "0.0.0.0") == ()
    assert import_roots(settings, "127.0.0.1") == (Path.cwd(), Path("/"))
    shared = settings.model_copy(update={"cobalance_auth_file": tmp_path / "auth.toml"})
    assert import_roots(shared, "127.0.0.1") == ()
    named = settings.model_copy(update={"cobalance_imports": (tmp_path,)})
    assert import_roots(named, "0.0.0.0") == (tmp_path,)
    assert import_roots(named, "127.0.0.1") == (tmp_path,)


def test_a_path_is_looked_for_in_the_folders_in_turn(tmp_path, monkeypatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there.csv").write_bytes(ROWS)
    monkeypatch.setenv("HOME", str(tmp_path))
    everywhere = (tmp_path / "here", Path("/"))
    assert inside_any(".", everywhere) == tmp_path / "here"
    for path in (str(tmp_path / "there.csv"), "~/there.csv"):
        assert inside_any(path, everywhere) == tmp_path / "there.csv"
    with pytest.raises(OptionError, match="COBALANCE_IMPORTS"):
        inside_any("../there.csv", everywhere[:1])


def test_a_link_does_not_lead_out_of_a_folder(tmp_path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside.csv"
    root.mkdir()
    outside.write_bytes(ROWS)
    (root / "link.csv").symlink_to(outside)
    (root / "in.csv").write_bytes(ROWS)
    assert [file.name for file in ServerFolder(root).files()] == ["in.csv"]
    assert inside("in.csv", root) == root / "in.csv"
    for path in ("link.csv", "../outside.csv", "\0"):
        with pytest.raises(OptionError):
            inside(path, root)


def test_a_companion_does_not_lead_out_of_its_folder(tmp_path, store: GraphStore) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "cars.csv").write_bytes(ROWS)
    (tmp_path / "classes.csv").write_bytes(b"image_id,label\n1,a\n")
    options = ReadOptions(class_file=Path("../classes.csv"))
    request = ImportRequest("cars.csv", "any", options)
    with pytest.raises(OptionError, match="not in"):
        check_import(ServerFolder(tmp_path / "root"), request, store, silent)
    sound = ImportRequest("cars.csv", "any", ReadOptions())
    with pytest.raises(InputError, match=r"^cars\.csv, line 6: "):
        check_import(ServerFolder(tmp_path / "root"), sound, store, silent)
