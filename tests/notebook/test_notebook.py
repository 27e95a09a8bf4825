"""A real Jupyter kernel: an error is one line, and progress a bar that goes."""

from typing import Any, cast

from jupyter_client.manager import run_kernel

from tests.browser.server import environment_of


def test_an_error_is_one_line_and_progress_a_bar_that_goes(settings, store, dataset):
    shown: list[tuple[str, str]] = []

    def take(message: dict[str, Any]) -> None:
        if message["msg_type"] in ("display_data", "update_display_data"):
            shown.append((message["msg_type"], message["content"]["data"]["text/html"]))

    with run_kernel(kernel_name="python3", env=environment_of(settings)) as client:

        def execute(cell: str) -> dict[str, Any]:
            reply = client.execute_interactive(cell, output_hook=take, timeout=300)
            return cast("dict[str, Any]", reply["content"])

        assert execute("import cobalance as cb; data = cb.urbancars()")["status"] == "ok"
        (line,) = execute("cb.imbalances(data, maxsize=2)")["traceback"]
        assert line.startswith("OptionError: imbalances(): got an unexpected keyword argument 'ma")
        assert shown == []
        (line,) = execute("store = cb.connect(); store['none'].mine()")["traceback"]
        assert line.startswith("NotFoundError: There is no dataset 'none'.")
        execute(f"store.load(data[:100], {dataset!r})")
        kinds, pages = zip(*shown, strict=True)
        assert kinds[0] == "display_data"
        assert set(kinds[1:]) == {"update_display_data"}
        assert "linear-gradient" in pages[0]
        assert "write images" in "".join(pages)
        assert pages[-1] == ""
        shown.clear()
        assert execute(f"cb.connect(quiet=True)[{dataset!r}].mine(max_size=2)")["status"] == "ok"
        assert shown == []
