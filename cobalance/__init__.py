"""Find and close concept imbalances of image datasets, from Python.

Three lines need no database::

    import cobalance as cb
    data = cb.read("cars.csv")
    cb.imbalances(data, max_size=2)

`connect` opens a store for everything that outlives a session: datasets, plans and jobs.
docs/python.md is a tour.
"""

import os
from pathlib import Path
from typing import Any

import lazy_loader

from cobalance.base import take_files_from

# Names are imported when they are first used: `import cobalance` alone loads nothing heavy.
_public_name, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _plugin_folder() -> Path | None:
    # Settings take a tenth of a second to import.
    if not os.environ.get("COBALANCE_PLUGINS"):
        return None
    from cobalance.workflows import LogSettings

    folder = LogSettings.from_environment().cobalance_plugins
    return None if folder is None else folder.absolute()


# Whichever front end this process is, plug-ins in files are found.
take_files_from(_plugin_folder)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    return _public_name(name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
