"""What the demonstration suggests to try next."""

import ast

from tests.app.cli.calling import hide, run_code


def test_the_web_app_is_suggested_with_what_it_needs(environment):
    shown = 'import app.cli.commands.demo as demo; print(demo.web_app_command("to see it"))'
    for extras, expected in (
        ([], [("cobalance app", "to see it")]),
        (["app"], [('pip install "cobalance[app]"\ncobalance app', "to see it: install it first")]),
    ):
        said = run_code(environment, f"{hide(extras)}; {shown}")
        assert ast.literal_eval(said) == expected
