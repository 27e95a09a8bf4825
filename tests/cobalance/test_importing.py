"""What `import cobalance` costs, and what it says where another module takes a package's name."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import cobalance
from cobalance.shadowing import PACKAGES

ROOT = Path(__file__).parents[2]


def in_python(code: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    path = ":".join(str(folder) for folder in (*folders, ROOT))
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_a_module_that_shadows_one_of_ours_is_named(tmp_path, package):
    (tmp_path / f"{package}.py").write_text("print('not ours')")
    found = in_python("import cobalance", tmp_path)
    assert found.returncode == 1
    assert "not ours" not in found.stdout
    message = found.stderr.splitlines()[-1]
    assert message.startswith(f"ImportError: cobalance needs its own package '{package}'")
    assert str(tmp_path / f"{package}.py") in message
    assert "Rename" in message


def test_a_module_that_was_imported_before_is_named_too(tmp_path):
    (tmp_path / "app.py").write_text("")
    code = f"import sys, app; sys.path.remove({str(tmp_path)!r}); import cobalance"
    found = in_python(code, tmp_path)
    assert str(tmp_path / "app.py") in found.stderr.splitlines()[-1]


def test_a_folder_without_an_init_file_shadows_nothing(tmp_path):
    (tmp_path / "graph").mkdir()
    found = in_python("import cobalance, graph; print(graph.__file__)", tmp_path)
    assert found.stdout.strip() == str(ROOT / "graph" / "__init__.py"), found.stderr


def test_the_import_alone_loads_nothing_heavy():
    heavy = {"numpy", "pandas", "neo4j", "torch", "streamlit", "numba", "pydantic"}
    found = in_python(f"import cobalance, sys; print({heavy!r} & set(sys.modules))")
    assert found.stdout.strip() == "set()", found.stderr


def test_a_diagnosis_without_a_database_loads_no_driver_torch_or_web_app():
    code = """
import sys
import cobalance as cb
cb.plan(cb.imbalances(cb.urbancars(), max_size=2))
print({"neo4j", "torch", "streamlit", "numba", "dbos", "PIL"} & set(sys.modules))
"""
    found = in_python(code)
    assert found.stdout.strip() == "set()", found.stderr


def test_every_name_is_there_and_no_module_hides_one():
    assert sorted(cobalance.__all__) == cobalance.__all__
    modules = {module.name for module in pkgutil.iter_modules(cobalance.__path__)}
    assert not modules & set(cobalance.__all__)
    for name in cobalance.__all__:
        found = getattr(cobalance, name)
        assert found.__name__ == name
        assert found.__doc__
    assert set(cobalance.__all__) <= set(dir(cobalance))
    with pytest.raises(AttributeError, match="no attribute 'imbalance'"):
        _ = cobalance.imbalance
