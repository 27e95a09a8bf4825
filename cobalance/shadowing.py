"""Refuse to start where another module takes the place of one of cobalance's own packages."""

import importlib.util
import sys
from pathlib import Path

PACKAGES = ("graph", "ingest", "generation", "evaluation", "annotation", "app")


def require_own_packages() -> None:
    """Raise unless the packages that cobalance imports are its own.

    They have everyday names: a file ``app.py`` in the folder of a notebook comes first on the
    import path.

    Raises
    ------
    ImportError
        Another module comes first, or one is missing; the message names the file.
    """
    home = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        found = _origin(name)
        if found is None:
            raise ImportError(
                f"cobalance is incomplete: its package {name!r} is not in {home}. Install "
                "cobalance again.",
                name=name,
            )
        if found.resolve() != home / name / "__init__.py":
            raise ImportError(
                f"cobalance needs its own package {name!r} in {home}, but {found} comes first on "
                "the import path. Rename that file or folder, or start Python in another folder.",
                name=name,
                path=str(found),
            )


def _origin(name: str) -> Path | None:
    """The file that ``import name`` gives, or has given."""
    if name in sys.modules:
        file = getattr(sys.modules[name], "__file__", None)
        return None if file is None else Path(file)
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    if spec.origin is None:  # a folder without __init__.py
        return Path(next(iter(spec.submodule_search_locations or [name])))
    return Path(spec.origin)
