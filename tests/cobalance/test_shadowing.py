"""Another module in the place of one of cobalance's packages is named."""

import pytest

import graph
from cobalance.shadowing import PACKAGES


@pytest.mark.parametrize("package", PACKAGES)
def test_a_module_that_shadows_one_of_ours_is_named(run_python, tmp_path, package):
    (tmp_path / f"{package}.py").write_text("print('not ours')")
    found = run_python("import cobalance", tmp_path)
    assert found.returncode == 1
    assert "not ours" not in found.stdout
    message = found.stderr.splitlines()[-1]
    assert message.startswith(f"ImportError: cobalance needs its own package '{package}'")
    assert str(tmp_path / f"{package}.py") in message
    assert "Rename" in message


def test_a_module_that_was_imported_before_is_named_too(run_python, tmp_path):
    (tmp_path / "app.py").write_text("")
    code = f"import sys, app; sys.path.remove({str(tmp_path)!r}); import cobalance"
    found = run_python(code, tmp_path)
    assert str(tmp_path / "app.py") in found.stderr.splitlines()[-1]


def test_a_folder_without_an_init_file_shadows_nothing(run_python, tmp_path):
    (tmp_path / "graph").mkdir()
    found = run_python("import cobalance, graph; print(graph.__file__)", tmp_path)
    assert found.stdout.strip() == graph.__file__, found.stderr
