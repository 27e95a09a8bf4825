"""The names of `cobalance`, and what importing it costs."""

import pkgutil

import pytest

import cobalance


def test_the_import_alone_loads_nothing_heavy(run_python):
    heavy = {"numpy", "pandas", "neo4j", "torch", "streamlit", "numba", "pydantic"}
    found = run_python(f"import cobalance, sys; print({heavy!r} & set(sys.modules))")
    assert found.stdout.strip() == "set()", found.stderr


def test_a_diagnosis_without_a_database_loads_no_driver_torch_or_web_app(run_python):
    code = """
import sys
import cobalance as cb
cb.plan(cb.imbalances(cb.urbancars(), max_size=2))
print({"neo4j", "torch", "streamlit", "numba", "dbos", "PIL"} & set(sys.modules))
"""
    found = run_python(code)
    assert found.stdout.strip() == "set()", found.stderr


def test_the_import_adds_no_handler_of_logs(run_python):
    code = "import cobalance, cobalance.notebook.stores, logging; print(*map(repr, "
    code += "[*logging.root.handlers, *logging.getLogger('cobalance').handlers]))"
    assert run_python(code).stdout.strip() == ""


def test_every_name_is_there_and_no_module_hides_one():
    assert sorted(cobalance.__all__) == cobalance.__all__
    modules = {module.name for module in pkgutil.iter_modules(cobalance.__path__)}
    assert not modules & set(cobalance.__all__)
    for name in cobalance.__all__:
        found = getattr(cobalance, name)
        assert found.__name__ == name
        assert found.__doc__
    assert dir(cobalance) == sorted([*cobalance.__all__, "__version__"])
    with pytest.raises(AttributeError, match="No cobalance attribute imbalance"):
        _ = cobalance.imbalance
