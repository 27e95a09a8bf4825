"""Check commands in texts against the command line itself."""

import shlex
from typing import Any

from cobalance.app.cli.main import whole_program


def unknown_parts(command: str) -> list[str]:
    """Subcommands and options of a ``cobalance`` command that do not exist."""
    words = shlex.split(command, comments=True)
    words = words[words.index("cobalance") + 1 :]
    found: Any = whole_program()
    while hasattr(found, "commands") and words:
        word = words.pop(0)
        if word.startswith("-"):
            option = next((one for one in found.params if word in one.opts), None)
            if option is None and word != "--help":
                return [word]
            if option is not None and not option.is_flag:
                words.pop(0)
        elif word in found.commands:
            found = found.commands[word]
        else:
            return [word]
    known = {
        option
        for parameter in found.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help"}
    flags = [word.partition("=")[0] for word in words if word.startswith("-")]
    return [flag for flag in flags if flag not in known]
