// Opened at /plan, Streamlit's page first looks for its server under /plan, and every miss is an
// error on the browser's console. It takes the address from this global variable if there is one.
window.__streamlit = {BACKEND_BASE_URL: location.origin + '/'};

// Streamlit adds a step to the history for what the server writes into the address, and none for a
// widget's value. Here one action of a person is one step: Back undoes it whole, and nothing else.
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

// A block of code that scrolls can be scrolled by keyboard. Dialogs and popovers, which Streamlit
// puts beside the app's element, are as light or dark as that is.
new MutationObserver(() => {
  const app = document.querySelector("[data-testid=stApp]");
  if (app) document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme;
  for (const code of document.querySelectorAll("[data-testid=stCode] pre:not([tabindex])"))
    if (code.scrollHeight > code.clientHeight) code.tabIndex = 0;
}).observe(document, {childList: true, subtree: true});

// In a table the arrow keys lead from cell to cell; Tab leaves it, also where a cell's selection
// opens something (WCAG 2.2, 2.1.2 and 3.2.1).
addEventListener("keydown", event => {
  const table = event.key === "Tab" && event.target.closest("[data-testid=data-grid-canvas]");
  if (!table) return;
  event.stopImmediatePropagation();
  table.tabIndex = -1;
  setTimeout(() => { table.tabIndex = 0; });
}, true);
