"""Pages in the browser: what went wrong on them, when they have come to rest, how they look."""

import os
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    WebSocket,
)

from tests.browser.server import WebApp

SCREENSHOTS = Path(__file__).parent / "screenshots"
TAKEN_IF = "SCREENSHOTS"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LONGEST_MS = 120_000  # until a run gives up; a machine may be busy
EVERY_IMPACT = ("minor", "moderate", "serious", "critical")
QUIET_MS = 300  # longer than Streamlit waits before it sends what a person has done
# By default it is asked at each frame, and so each is drawn.
POLLING_MS = 100

# What went over the wire: when the last message did, and whether what a person has done was taken
# up. Streamlit answers with a run: a message that begins it, `new_session`, and one that ends it,
# `script_finished`. A run of a fragment does not answer what asks for the whole page, a run that
# ends early for another one is not the last, and runs that a timer asks for are nobody's doing. To
# open the page is to ask for one: until its first run has ended, it is not at rest either.
_WATCH_WIRE = """
const RERUN = 11, FRAGMENT = 5, IS_AUTO = 6;
const METADATA = 2, RUN = 6, FRAGMENTS = 2;
const NEW_SESSION = 4, FINISHED = 6, EARLY_FOR_RERUN = 2;

window.wire = { lastMessage: 0, state: "sent", wantsPage: true };

// The fields of a message of Protocol Buffers, of which each has a number and a value.
function* fieldsOf(bytes) {
  let at = 0;
  const varint = () => {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8), kind = tag % 8;
    if (kind === 0) yield [number, varint()];
    if (kind === 1 || kind === 5) at += kind === 1 ? 8 : 4;
    if (kind === 2) {
      const length = varint();
      yield [number, bytes.subarray(at, at + length)];
      at += length;
    }
  }
}

const field = (bytes, number) => new Map(fieldsOf(bytes ?? [])).get(number);

window.WebSocket = class extends WebSocket {
  constructor(...all) {
    super(...all);
    this.addEventListener("message", ({ data }) => {
      const wire = window.wire, message = new Uint8Array(data);
      wire.lastMessage = performance.now();
      if (field(message, NEW_SESSION) !== undefined && wire.state === "sent") {
        const run = field(field(message, METADATA), RUN);
        if (!wire.wantsPage || field(run, FRAGMENTS) === undefined) wire.state = "running";
      }
      const finished = field(message, FINISHED);
      if (finished !== undefined && finished !== EARLY_FOR_RERUN && wire.state === "running") {
        wire.state = "answered";
      }
    });
  }

  send(data) {
    const wire = window.wire, rerun = field(data, RERUN);
    wire.lastMessage = performance.now();
    if (rerun !== undefined && field(rerun, IS_AUTO) === undefined) {
      wire.wantsPage = field(rerun, FRAGMENT) === undefined;
      wire.state = "sent";
    }
    super.send(data);
  }
};
"""
ANSWERED = """() => window.wire.state === "answered"
  && document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning"
"""
# At rest no task is running either: when it ends, the page is drawn anew. Nothing unfolds, moves or
# fades any more, but for what turns for ever.
_AT_REST = """quiet => {
  const app = document.querySelector("[data-testid=stApp]");
  return app !== null
    && app.dataset.testScriptState === "notRunning"
    && app.dataset.testConnectionState === "CONNECTED"
    && window.wire.state === "answered"
    && performance.now() - window.wire.lastMessage > quiet
    && document.querySelector("[data-stale=true], [data-testid=stSkeleton]") === null
    && document.querySelector("[class*='st-key-_cancel-']") === null
    && document.fonts.status === "loaded"
    && document.getAnimations().every(one =>
      one.playState !== "running" || one.effect?.getTiming().iterations === Infinity)
    && Array.from(document.images).every(image => image.complete);
}"""
# Colours fade from one scheme to the other.
_END_FADING = """() => document.getAnimations()
  .filter(one => one instanceof CSSTransition)
  .forEach(one => one.finish())"""


_CONTEXTS: WeakKeyDictionary[Browser, dict[bool, BrowserContext]] = WeakKeyDictionary()


class Pages:
    """Opens pages of an app, and remembers whatever no page should do.

    Parameters
    ----------
    browser : Browser
        Its pages share what was downloaded and compiled, and nothing else once they are closed.
    app : WebApp
        Whose pages.

    Attributes
    ----------
    problems : list of str
        Errors on the console, uncaught exceptions, and requests to any other host. A test that
        means to cause one takes it out.
    """

    def __init__(self, browser: Browser, app: WebApp) -> None:
        self._browser = browser
        self.app = app
        self.problems: list[str] = []
        self._opened: list[Page] = []

    def open(
        self,
        path: str = "/",
        *,
        scheme: Literal["light", "dark"] = "light",
        width: int = 1280,
        height: int = 900,
        touch: bool = False,
        also_hosts: Iterable[str] = (),
        settled: bool = True,
    ) -> Page:
        """Open a page and wait until it is at rest.

        Parameters
        ----------
        path : str
            With the query.
        scheme : "light" or "dark"
            Which the person prefers.
        touch : bool
            Whether there is a touchscreen.
        also_hosts : iterable of str
            Hosts with ports, beside the app's, that may be asked for something.
        settled : bool
            Whether to wait; a page that always refreshes has no rest.
        """
        page = _context(self._browser, touch=touch).new_page()
        self._opened.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        allowed = {self.app.netloc, *also_hosts}

        def check_host(asked: Request | WebSocket) -> None:
            parts = urlsplit(asked.url)
            if parts.scheme not in ("data", "blob") and parts.netloc not in allowed:
                self.problems.append(f"asked another host: {asked.url}")

        def check_console(message: ConsoleMessage) -> None:
            if message.type == "error":
                self.problems.append(f"console: {message.text} ({message.location['url']})")

        page.on("request", check_host)
        page.on("websocket", check_host)
        page.on("console", check_console)
        page.on("pageerror", lambda error: self.problems.append(f"uncaught: {error}"))
        page.goto(self.app.url + path)
        if settled:
            settle(page)
        return page

    def close(self) -> None:
        """Close every page, and forget what the browser has stored for them."""
        for page in self._opened:
            if not page.is_closed():
                with suppress(Error):  # a page that shows nothing has no storage
                    page.evaluate("localStorage.clear()")
                page.close()
        for context in self._browser.contexts:
            context.clear_cookies()


def _context(browser: Browser, *, touch: bool) -> BrowserContext:
    """The browser's context with or without a touchscreen: the app's scripts are compiled once."""
    kept = _CONTEXTS.setdefault(browser, {})
    if touch not in kept:
        kept[touch] = browser.new_context(reduced_motion="reduce", locale="en-GB", has_touch=touch)
        kept[touch].set_default_timeout(LONGEST_MS)
        kept[touch].add_init_script(_WATCH_WIRE)
    return kept[touch]


def answered(page: Page) -> None:
    """Return when what was done is answered and no run goes on, on a page that always refreshes."""
    page.wait_for_function(ANSWERED, polling=POLLING_MS)


def settle(page: Page) -> None:
    """Return when what was done is answered, no run or task goes on, and all of it is drawn."""
    page.wait_for_function(_AT_REST, arg=QUIET_MS, polling=POLLING_MS)


def unfold(page: Page, label: str) -> None:
    """Open what is folded away under a label, and wait until it has unfolded."""
    page.get_by_text(label).click()
    settle(page)


def walk(page: Page, to: Locator, key: str = "Tab") -> None:
    """Press Tab, or Shift+Tab, until something has the focus, which is seen."""
    # A table's cells are within it. A page that refreshes may take the focus away, and so both
    # are asked at once, and the way may begin anew.
    for _ in range(400):
        if to.evaluate("one => one.matches(':focus-visible, :has(:focus-visible)')"):
            return
        page.keyboard.press(key)

    raise AssertionError("it does not get the focus, or it is not seen")


def graph(page: Page, expression: str) -> Any:
    """Ask the graph's testing interface, which its source describes."""
    element = page.locator(".concept-graph[data-ready]")
    return element.evaluate(f"element => element.cobalanceGraph.{expression}")


def barriers(page: Page, impacts: Collection[str] = ("serious", "critical")) -> list[str]:
    """What keeps people out of a page at rest, in light and in dark: axe's rule and selector.

    Of all rules of WCAG 2.1 AA and of good practice, what axe finds of these impacts; nothing
    that Streamlit draws is left out. What a page that refreshes by itself shows for a moment only,
    greyed out or fading, is not found each time.
    """
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        lasting = _violations(page, impacts)
        for _ in range(4):
            if lasting:
                lasting &= _violations(page, impacts)
        found += [f"{scheme}: {violation}" for violation in sorted(lasting)]
    return found


def _violations(page: Page, impacts: Collection[str]) -> set[str]:
    settle(page)
    page.evaluate(_END_FADING)
    return {
        f"{rule['id']} {one['target']}"
        for rule in Axe().run(page).response["violations"]
        if rule["impact"] in impacts
        for one in rule["nodes"]
    }


def screenshot(page: Page, name: str) -> None:
    """Keep pictures of the whole page at rest, in light and in dark: ``NAME-light.png``.

    They are for people to look at, and taken only with `TAKEN_IF` in the environment.
    """
    if TAKEN_IF not in os.environ:
        return
    SCREENSHOTS.mkdir(exist_ok=True)
    before = page.viewport_size
    assert before is not None
    # It is not the document that scrolls, but an element of it.
    beyond = "main => main.scrollHeight - main.clientHeight"
    height = before["height"]
    for _ in range(2):  # what stays at the lower edge takes room, too
        height += page.get_by_test_id("stMain").evaluate(beyond)
        page.set_viewport_size({"width": before["width"], "height": height})
        settle(page)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        settle(page)
        page.evaluate(_END_FADING)
        page.screenshot(path=SCREENSHOTS / f"{name}-{scheme}.png")
    page.set_viewport_size(before)
    settle(page)
