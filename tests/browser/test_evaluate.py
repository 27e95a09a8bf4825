"""An evaluation from its form to the images behind a number, trained by a real worker."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from cobalance.base.records import Annotations
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.evaluations.reading import list_evaluations
from tests.browser.pages import Pages, screenshot, settle, unfold
from tests.browser.server import WebApp, running
from tests.workflows.evaluate.conftest import BIASED, EVEN, draw

SHORTCUTS = b'["<b>ground</b>"]\ncat = ["grass"]\ndog = ["snow"]\n'


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory, app_environment: dict[str, str]
) -> dict[str, str]:
    """Of an app and a worker that share folders."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "pictures").mkdir()
    return {
        **app_environment,
        "COBALANCE_OUTPUT": str(folder / "made"),
        "COBALANCE_QUEUE": f"sqlite:///{folder}/queue.sqlite",
        "COBALANCE_IMAGES": str(folder / "pictures"),
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Iterator[WebApp]:
    with running(tmp_path_factory.mktemp("app"), environment) as started:
        yield started
    assert started.crashes() == []


def test_from_the_form_to_the_images(
    pages: Pages, store: GraphStore, dataset: str, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = Path(environment["COBALANCE_IMAGES"])
    records = [*draw(folder, "train", BIASED), *draw(folder, "test", EVEN)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    page = pages.open(
        f"/evaluate?dataset={dataset}&evaluate_view=Train+models&evaluate_methods=erm"
        "&evaluate_methods=upweight&evaluate_seeds=2&evaluate_shortcuts=A+file&small_epochs=50"
    )
    expect(page.get_by_role("button", name="Train 4 models")).to_be_disabled()
    page.locator("input[type=file]").set_input_files(
        {"name": "s.toml", "mimeType": "text/plain", "buffer": SHORTCUTS}
    )
    expect(page.get_by_text("<b>ground</b> - cat: grass; dog: snow")).to_be_visible()
    unfold(page, "Validation and options")
    screenshot(page, "evaluate-form")
    page.get_by_role("button", name="Train 4 models").click()
    expect(page.get_by_text("4 evaluations ordered")).to_be_visible()
    done = subprocess.run(
        [sys.executable, "-m", "cobalance.app", "work", "--until-idle"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = list_evaluations(store, dataset)
    assert {(one.state, one.settings["learner_options"]["epochs"]) for one in found} == {
        ("done", 50)
    }
    page = pages.open(f"/evaluate?dataset={dataset}&evaluate_metric=group+accuracy")
    expect(page.get_by_text("Line: 95% interval of a seed")).to_be_visible()
    expect(page.locator("[data-testid=stVegaLiteChart]").first).to_be_visible()
    expect(page.get_by_text("of 40 images are predicted wrong")).to_be_visible()
    expect(page.get_by_role("heading", name="of its worst group")).to_be_in_viewport()
    settle(page)
    table = page.get_by_test_id("stDataFrame").first.bounding_box()
    images = page.get_by_test_id("image-grid").first.bounding_box()
    assert table is not None
    assert images is not None
    assert table["y"] <= 300
    assert images["y"] <= 900
    assert Axe().run(page).response["violations"] == []
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Export").click()
        page.get_by_role("button", name="Latex").click()
    assert "\\begin{tabular}" in Path(downloaded.value.path()).read_text(encoding="utf-8")
    page.keyboard.press("Escape")
    settle(page)
    screenshot(page, "evaluate-results")
    phone = pages.open(
        f"/evaluate?dataset={dataset}&evaluate_metric=group+accuracy", width=390, touch=True
    )
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert phone.evaluate(overflow) <= 0
    screenshot(phone, "evaluate-phone")
