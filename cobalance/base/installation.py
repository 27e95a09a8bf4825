"""The command that adds an extra to this copy of cobalance, wherever it was installed from."""

import shlex
from functools import cache
from pathlib import Path


def install_command(extras: str) -> str:
    """Return the shell command that installs extras, separated by commas.

    No package index has cobalance, so the command names the folder or the wheel that this copy was
    installed from; or the wheel's file name alone, where that is gone or was not recorded.
    """
    option, source = _origin()
    return f"pip install {option}{shlex.quote(f'{source}[{extras}]')}"


@cache
def _origin() -> tuple[str, str]:
    """The source of this installation, and pip's option for it."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        installed = distribution("cobalance")
    except PackageNotFoundError:
        # It runs from a checkout.
        return "", str(Path(__file__).parents[2])

    # PEP 610: pip records where it installed a package from, unless that was an index.
    record = json.loads(installed.read_text("direct_url.json") or "{}")
    url = urlsplit(record.get("url", ""))
    source = url2pathname(url.path)
    if url.scheme != "file" or not Path(source).exists():
        return "", f"cobalance-{installed.version}-py3-none-any.whl"
    if record.get("dir_info", {}).get("editable"):
        return "-e ", source
    return "", source
