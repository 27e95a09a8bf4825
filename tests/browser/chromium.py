"""Find a Chromium to test with; `python -m tests.browser.chromium` installs one before a run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Error, Playwright, sync_playwright

VARIABLE = "CHROMIUM"
SHELL = "chromium-headless-shell"  # the same engine without a window, for a sixth less CPU time
PROGRAMS = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL_S = 500
# dpkg may be at work for somebody else.
APT = ("apt-get", "--yes", "-o", f"DPkg::Lock::Timeout={INSTALL_S}")
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


class NoChromiumError(Exception):
    """No Chromium starts; the message says what to install."""


def launch(playwright: Playwright) -> Browser:
    """Start the first Chromium that starts.

    Raises
    ------
    NoChromiumError
        There is none.
    """
    # Chromium's sandbox needs a user other than root; only pages of our own are opened.
    arguments = ["--no-sandbox"] if IS_ROOT else []
    failed = ""
    for name, program in _installed(playwright):
        try:
            return playwright.chromium.launch(executable_path=program, args=arguments)
        except Error as error:
            failed = f" ({name} does not start: {error.message.splitlines()[0]})"
    raise NoChromiumError(
        f"The browser tests need Chromium, which could not be found or installed{failed}: install "
        "it (Debian: `apt-get install chromium`; anywhere: `playwright install --with-deps "
        f"chromium`), or set {VARIABLE} to the program."
    )


def _installed(playwright: Playwright) -> Iterator[tuple[str, str | None]]:
    """Give what to call each Chromium that is there, and its program; None is Playwright's."""
    if named := os.environ.get(VARIABLE):
        yield f"{VARIABLE}={named}", named
        return
    for name in PROGRAMS:
        if program := shutil.which(name):
            yield program, program
    own = playwright.chromium.executable_path
    if Path(own).exists():
        yield own, None


def _installers() -> Iterator[list[list[str]]]:
    """Give the commands of each way to install one."""
    if VARIABLE in os.environ:
        return
    if IS_ROOT and shutil.which("apt-get"):
        for package in (SHELL, "chromium"):
            yield [[*APT, "update"], [*APT, "install", "--no-install-recommends", package]]
    yield [[sys.executable, "-m", "playwright", "install", "chromium"]]


def _run(command: list[str]) -> bool:
    sys.stderr.write(f"Installing Chromium for the browser tests: {' '.join(command)}\n")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        subprocess.run(command, env=quiet, check=True, timeout=INSTALL_S, capture_output=True)
    except (subprocess.SubprocessError, OSError):
        return False
    return True


def install() -> None:
    """Install a Chromium unless one starts.

    Raises
    ------
    NoChromiumError
        None could be installed.
    """
    with sync_playwright() as playwright:
        for commands in ([], *_installers()):
            if all(map(_run, commands)):
                try:
                    launch(playwright).close()
                except NoChromiumError:
                    continue
                return
        launch(playwright)


if __name__ == "__main__":
    try:
        install()
    except NoChromiumError as error:
        sys.exit(str(error))
