"""A Chromium to test with: the machine's own, else installed, else a failure that says how."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Playwright

VARIABLE = "CHROMIUM"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL_S = 500


def launch(playwright: Playwright) -> Browser:
    """Start the first Chromium that starts."""
    tried = []
    # Chromium's sandbox needs a user other than root; only pages of our own are opened.
    arguments = ["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else []
    for name, program in _candidates(playwright):
        try:
            return playwright.chromium.launch(executable_path=program, args=arguments)
        except Error as error:
            tried.append(f"{name}: {error.message.splitlines()[0]}")
    pytest.fail(
        "The browser tests need Chromium, and none could be started or installed:\n  "
        + "\n  ".join(tried)
        + f"\nInstall one (Debian: `apt-get install chromium`; anywhere: `playwright install "
        f"--with-deps chromium`), or set {VARIABLE} to the program.",
        pytrace=False,
    )


def _candidates(playwright: Playwright) -> Iterator[tuple[str, str | None]]:
    """Give what to call a Chromium and its program, installing one when the others were no use."""
    if named := os.environ.get(VARIABLE):
        yield f"{VARIABLE}={named}", named
        return
    for name in PROGRAMS:
        if program := shutil.which(name):
            yield program, program
    own = playwright.chromium.executable_path
    if Path(own).exists():
        yield own, None
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]
        if _run(["apt-get", "update"], quiet) and _run(install, quiet):
            yield "Debian's package", shutil.which("chromium")
    if _run([sys.executable, "-m", "playwright", "install", "chromium"], dict(os.environ)):
        yield "Playwright's download", None


def _run(command: list[str], environment: dict[str, str]) -> bool:
    sys.stderr.write(f"\nInstalling a browser for the tests: {' '.join(command)}\n")
    try:
        subprocess.run(command, env=environment, check=True, timeout=INSTALL_S, stdout=sys.stderr)
    except (subprocess.SubprocessError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return False
    return True
