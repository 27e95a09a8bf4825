"""Check commands in texts against the command line itself."""

import shlex
from typing import Any

import typer

from cobalance.app.cli.main import command_line


def unknown_parts(command: str) -> list[str]:
    """Subcommands and options of a ``cobalance`` command that do not exist."""
    words = shlex.split(command, comments=True)
    found: Any = typer.main.get_command(command_line())
    at = 1
    while hasattr(found, "commands") and at < len(words):
        name = words[at]
        if name not in found.commands:
            return [] if name.startswith("-") else [name]
        found, at = found.commands[name], at + 1
    known = {
        option
        for parameter in found.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help"}
    flags = [word.partition("=")[0] for word in words[at:] if word.startswith("-")]
    return [flag for flag in flags if flag not in known]
