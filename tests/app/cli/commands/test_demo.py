"""What the demonstration suggests to try next."""

import ast
import subprocess
import sys

from tests.app.cli.calling import EXTRAS


def test_the_web_app_is_suggested_with_what_it_needs(environment):
    shown = 'import app.cli.commands.demo as demo; print(demo.web_app_command("to see it"))'
    for extras, expected in (
        ([], [("cobalance app", "to see it")]),
        (["app"], [('pip install "cobalance[app]"\ncobalance app', "to see it: install it first")]),
    ):
        missing = [name for extra in extras for name in EXTRAS[extra]]
        hidden = f"import sys; [sys.modules.__setitem__(name, None) for name in {missing!r}]"
        done = subprocess.run(
            [sys.executable, "-c", f"{hidden}; {shown}"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert ast.literal_eval(done.stdout) == expected
