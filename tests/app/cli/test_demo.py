"""What the demonstration suggests to try next."""

import ast
from pathlib import Path

from tests.app.cli.calling import hide, run_code

ROOT = Path(__file__).parents[3]


def test_the_web_app_is_suggested_with_what_it_needs(environment):
    install = f"pip install -e '{ROOT}[app]'"
    shown = 'import cobalance.app.cli.demo as demo; print(demo.web_app_command("to see it"))'
    for extras, expected in (
        ([], ("cobalance app", "to see it")),
        (["app"], (f"{install}\ncobalance app", "to see it: install it first")),
    ):
        said = run_code(environment, f"{hide(extras)}; {shown}")
        assert ast.literal_eval(said) == expected
