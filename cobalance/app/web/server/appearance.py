"""Streamlit theme options, light and dark, and middleware that adds CSS and scripts to the page.

Neutral greys with one accent, a violet unlike any class colour
(`app.web.widgets.theme`). Fonts come with Streamlit: no page asks another host for anything.
"""

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_EVERYWHERE: dict[str, Any] = {
    "baseFontSize": 15,
    "headingFontSizes": ["1.6rem", "1.3rem", "1.1rem", "1rem", "1rem", "1rem"],
    "headingFontWeights": [600, 600, 600, 600, 600, 600],
    "metricValueFontSize": "1.6rem",
    "baseRadius": "0.4rem",
    "buttonRadius": "0.4rem",
    "paddingTop": "1rem",
    "paddingBottom": "3rem",
    "showWidgetBorder": True,
    "linkUnderline": False,
}
_LIGHT = {
    "primaryColor": "#5753C6",
    "linkColor": "#4B47B3",
    "backgroundColor": "#FFFFFF",
    "secondaryBackgroundColor": "#F4F5F6",
    "textColor": "#1D2126",
    "borderColor": "#DADDE1",
    "codeTextColor": "#1D2126",
    "codeBackgroundColor": "#F4F5F6",
    "dataframeBorderColor": "#E4E6E9",
    "dataframeHeaderBackgroundColor": "#F4F5F6",
    "dataframeHeaderTextColor": "#545B64",
}
_DARK = {
    "primaryColor": "#6864DC",
    "linkColor": "#B1A9FF",
    "backgroundColor": "#15171B",
    "secondaryBackgroundColor": "#202329",
    "textColor": "#E6E8EB",
    "borderColor": "#3A3F47",
    "codeTextColor": "#E6E8EB",
    "codeBackgroundColor": "#202329",
    "dataframeBorderColor": "#30343B",
    "dataframeHeaderBackgroundColor": "#202329",
    "dataframeHeaderTextColor": "#A9B0B9",
}

STYLES = """
/* Controls side by side are of one height, and so their names are on one line. */
[data-testid="stButtonGroup"] button[data-variant="segmented_control"] { min-height: 2.5rem; }
/* The page's name stands level with the choice of the dataset. */
[data-testid="stHeading"]:has(h1) [data-testid="stMarkdownContainer"] { margin-bottom: 0; }
[data-testid="stHeading"] [data-testid="stMarkdownContainer"] h1 { padding: 0; }
/* Text is at least 4.5 times as bright or dark as its ground, and what has the focus is seen
   (WCAG 2.2, 1.4.3 and 1.4.11). Streamlit sets `color-scheme` on the app. */
[data-testid="stApp"] [data-testid="stCaptionContainer"] { opacity: 0.75; }
[data-testid="stVegaLiteChart"] :is(.role-axis, .role-legend, .role-title) text
  { fill: light-dark(#545B64, #A9B0B9); }
[data-testid="stButtonGroup"] button[data-selected="true"] p, [data-testid="stSliderThumbValue"] p
  { color: light-dark(#4B47B3, #B1A9FF); }
[data-testid="stTopNavLink"]:focus-visible
  { outline: 2px solid light-dark(#4B47B3, #B1A9FF); outline-offset: -2px; }
[data-testid="stApp"] [data-testid="stCode"] .token:not(.punctuation, .operator, .comment)
  { color: light-dark(#0B5CAD, #7DB8F7); }
/* A table's tools have room of their own, and cover nothing above it. */
[data-testid="stDataFrame"] { margin-top: 0.9rem; }
[data-testid="stDataFrame"] > [data-testid="stElementToolbar"] { top: -1.8rem; padding: 0; }
[data-testid="stDataFrame"] > [data-testid="stElementToolbar"] > div { padding: 0; }
/* A thumbnail fills no screen; what has a larger picture shows that on a click. */
[data-testid="stFullScreenFrame"]:has([data-testid="stImage"]) [data-testid="stElementToolbar"]
  { display: none; }
/* A switch that is off is seen, too (WCAG 2.2, 1.4.11). */
[data-testid="stCheckbox"] label:has(input[role="switch"]:not(:checked)) > div:first-of-type
  { box-shadow: inset 0 0 0 1px #8A8F98; }
/* A choice that cannot be empty need not say so. */
[data-testid="stWidgetLabelRequired"] { display: none; }
/* What a plan takes and leaves, with the button that creates its job, is always in sight. */
:has(> :is(.st-key-_plan_summary, .st-key-_edits_job))
  { position: sticky; top: 3.5rem; bottom: 0; z-index: 50; }
:is(.st-key-_plan_summary, .st-key-_edits_job) { background: light-dark(#FFFFFF, #15171B); }
.st-key-_plan_summary
  { padding: 0.5rem 0; border-bottom: 1px solid light-dark(#DADDE1, #3A3F47); }
[data-testid="stMain"]:has(.st-key-_plan_summary) { scroll-padding-top: 10rem; }
@media (max-width: 640px) {
  .st-key-_plan_summary :has(> [data-testid="stMetric"]):not(:first-child) { display: none; }
}
/* What is away for now keeps its place. */
.st-key-_next_step_hidden { visibility: hidden; }
/* Buttons that are there for their keys alone. */
div:has(> .st-key-review_arrows) { display: none; }
"""
"""CSS for what theme options do not cover."""

# Opened at /plan, Streamlit's page first looks for its server under /plan, and every miss is an
# error on the browser's console. It takes the address from this global variable if there is one.
_BASE_URL = "window.__streamlit = {BACKEND_BASE_URL: location.origin + '/'};"

# Streamlit adds a step to the history for what the server writes into the address, and none for a
# widget's value. Here one action of a person is one step: Back undoes it whole, and nothing else.
_HISTORY = """
{
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let acted = false;
  const act = event => { acted = event.type !== "click" || event.detail === 0 || acted; };
  for (const kind of ["pointerdown", "keydown", "click"]) addEventListener(kind, act, true);
  addEventListener("popstate", () => { acted = false; }, true);
  history.pushState = history.replaceState = (state, title, url) => {
    const to = new URL(url ?? location.href, location.href);
    const changes = to.href !== location.href;
    if (to.pathname !== location.pathname)
      document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
    (acted && changes ? push : replace)(state, title, url);
    acted = acted && !changes;
  };
}
"""

# A block of code that scrolls can be scrolled by keyboard. Dialogs and popovers, which Streamlit
# puts beside the app's element, are as light or dark as that is.
_FOLLOWING = """
new MutationObserver(() => {
  const app = document.querySelector("[data-testid=stApp]");
  if (app) document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme;
  for (const code of document.querySelectorAll("[data-testid=stCode] pre:not([tabindex])"))
    if (code.scrollHeight > code.clientHeight) code.tabIndex = 0;
}).observe(document, {childList: true, subtree: true});
"""

# In a table the arrow keys lead from cell to cell; Tab leaves it, also where a cell's selection
# opens something (WCAG 2.2, 2.1.2 and 3.2.1).
_TABLES = """
addEventListener("keydown", event => {
  const table = event.key === "Tab" && event.target.closest("[data-testid=data-grid-canvas]");
  if (!table) return;
  event.stopImmediatePropagation();
  table.tabIndex = -1;
  setTimeout(() => { table.tabIndex = 0; });
}, true);
"""
_SCRIPTS = _BASE_URL + _HISTORY + _FOLLOWING + _TABLES
_ADDED = f"<script>{_SCRIPTS}</script><style>{STYLES}</style>".encode()
_HEAD = b"<head>"


def theme_options() -> dict[str, Any]:
    """The options by their full names, such as ``theme.dark.textColor``."""
    return {
        **{f"theme.{name}": value for name, value in _EVERYWHERE.items()},
        **{f"theme.light.{name}": value for name, value in _LIGHT.items()},
        **{f"theme.dark.{name}": value for name, value in _DARK.items()},
    }


class PageHtml:
    """ASGI middleware that inserts a script and styles into the app's only HTML page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; change the response if it is the HTML page."""
        if scope["type"] != "http" or scope["method"] != "GET" or "." in scope["path"]:
            await self._app(scope, receive, send)
            return
        # Uncompressed, so that it can be changed.
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        started: Message | None = None
        body = b""

        async def send_changed(message: Message) -> None:
            nonlocal started, body
            if message["type"] == "http.response.start":
                kind = MutableHeaders(scope=message).get("content-type", "")
                if kind.startswith("text/html"):
                    started = message
                    return
            elif started is not None and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                page = body.replace(_HEAD, _HEAD + _ADDED, 1)
                MutableHeaders(scope=started)["content-length"] = str(len(page))
                await send(started)
                await send({"type": "http.response.body", "body": page})
                return
            await send(message)

        await self._app({**scope, "headers": headers}, receive, send_changed)
