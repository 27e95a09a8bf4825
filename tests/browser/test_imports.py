"""Five kinds of published datasets from an upload to Diagnose, in as few steps as are needed."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence

import datasets
import pytest
from playwright.sync_api import FilePayload, Page, expect

from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import find_dataset
from tests.browser.pages import Pages, screenshot
from tests.ingest.dataset_files import pixels

N = 60
PIXELS = pixels()
LINGER_MS = 240_000  # what the server computes, on a busy machine
ODD = range(1, N, 2)
LEANING = {*ODD[3:], 0, 2, 4}
"""Images with what leans: 27 of the 30 odd ones, and 3 of the 30 even ones."""
CATEGORIES = ("person", "dog", "bench")


def shown(number: int) -> list[int]:
    """Objects of a picture: dogs are seldom seen without a person."""
    return [*([0] if number in ODD else []), *([1] if number in LEANING else []), 2]


def coco() -> bytes:
    """COCO without a class."""
    pairs = [(number, code) for number in range(N) for code in shown(number)]
    size = {"width": 64, "height": 48}
    return json.dumps(
        {
            "images": [{"id": n, "file_name": f"{n}.jpg", **size} for n in range(N)],
            "annotations": [
                {"id": i, "image_id": n, "category_id": code, "bbox": [4, 4, 9, 9], "area": 81}
                for i, (n, code) in enumerate(pairs)
            ],
            "categories": [{"id": code, "name": name} for code, name in enumerate(CATEGORIES)],
        }
    ).encode()


def table(first: int = 0, last: int = N) -> bytes:
    """A CSV file with columns of metadata, and none of concepts."""
    text = io.StringIO()
    write = csv.writer(text).writerow
    write(["filename", "label", "weather", "taken"])
    for n in range(first, last):
        weather = "rainy" if n in LEANING else "sunny"
        write([f"{n}.jpg", "cat" if n in ODD else "dog", weather, f"2024-0{1 + n % 3}-11"])
    return text.getvalue().encode()


def packed(files: Mapping[str, bytes | str]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return archive.getvalue()


def folders(pattern: str = "{cls}/{ctx}/{n}.jpg") -> bytes:
    """Class folders with one more level, as a ZIP file."""
    return packed(
        {
            pattern.format(
                cls="cow" if n in ODD else "horse",
                ctx="grass" if n in LEANING else "road",
                split="train" if n % 3 else "test",
                n=n,
            ): PIXELS
            for n in range(N)
        }
    )


def yolo() -> bytes:
    names = "".join(f"  {code}: {name}\n" for code, name in enumerate(CATEGORIES))
    files: dict[str, bytes | str] = {"data.yaml": f"train: images/train\nnames:\n{names}"}
    for n in range(N):
        files[f"images/train/{n}.jpg"] = PIXELS
        files[f"labels/train/{n}.txt"] = "".join(f"{code} .5 .5 .2 .2\n" for code in shown(n))
    return packed(files)


def hub() -> bytes:
    """Parquet as `push_to_hub` writes it: labels are numbers, with names in the schema."""
    labels = {"label": ("indoor", "outdoor"), "weather": ("sunny", "rainy", "snowy")}
    features = {name: datasets.ClassLabel(names=list(of)) for name, of in labels.items()}
    columns = {
        "image": [{"bytes": PIXELS, "path": f"{n}.jpg"} for n in range(N)],
        "label": [int(n in ODD) for n in range(N)],
        "weather": [int(n in LEANING) for n in range(N)],
    }
    known = datasets.Features({"image": datasets.Image(), **features})
    written = io.BytesIO()
    datasets.Dataset.from_dict(columns, features=known).to_parquet(written)
    return written.getvalue()


TOGETHER = ("27 images show dog + person; by chance 15 would.", "dog + person", "27")
RAINY = ("weather: rainy is 9 times likelier in {}.", "weather: rainy", "+80.0% {}")
GRASS = ("context: grass is 9 times likelier in {}.", "context: grass", "+80.0% {}")
# Where the button and the progress are in the first frame that has both: Diagnose may follow soon.
WATCH_LOADING = """words => {
  const boxOf = element => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x, y, width, height };
  };
  const look = () => {
    const button = [...document.querySelectorAll("button:disabled")]
      .find(one => one.textContent.includes("Load and diagnose"));
    const progress = [...document.querySelectorAll("p")]
      .find(one => one.textContent.startsWith(words));
    if (button && progress) {
      window.loading = { button: boxOf(button), progress: boxOf(progress) };
    } else {
      requestAnimationFrame(look);
    }
  };
  look();
}"""
CONTEXT = "Read as {class}/{context}/*"


@pytest.fixture
def name(store: GraphStore) -> Iterator[str]:
    """Name of a file without its ending, and so of its dataset, which is dropped."""
    yield "published"
    if find_dataset(store, "published") is not None:
        drop_dataset(store, "published")


def _upload(page: Page, name: str, content: bytes) -> None:
    file: FilePayload = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.locator("input[type=file]").set_input_files(file)


def _press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click(timeout=LINGER_MS)


def _expect_thumbnails(page: Page) -> None:
    """Pictures of the file are there, and drawn."""
    picture = page.get_by_role("img", name=re.compile("^[^ ]+: ")).first
    expect(picture).to_be_visible(timeout=LINGER_MS)
    expect(picture).not_to_have_js_property("naturalWidth", 0)


def _expect_row(page: Page, *cells: str) -> None:
    """A row of a table, which is drawn on a canvas, has these cells."""
    rows = page.get_by_test_id("stDataFrame").locator("tr")
    for cell in cells:
        rows = rows.filter(has=page.locator(f'td:text-is("{cell}")'))
    expect(rows.first).to_be_attached(timeout=LINGER_MS)


@pytest.mark.parametrize(
    ("ending", "content", "heads", "steps", "counts", "finding"),
    [
        ("json", coco, [], [], {"all images": 60, "dog": 30, "bench": 60}, TOGETHER),
        ("yolo.zip", yolo, [], [], {"all images": 60, "dog": 30, "bench": 60}, TOGETHER),
        (
            "zip",
            folders,
            [],
            [CONTEXT],
            {"cow": 30, "horse": 30, "context: grass": 30},
            [text.format("cow") for text in GRASS],
        ),
        (
            "csv",
            table,
            ["rainy", "2024-01-11"],
            [],
            {"cat": 30, "dog": 30, "weather: rainy": 30},
            [text.format("cat") for text in RAINY],
        ),
        (
            "parquet",
            hub,
            ["sunny", "outdoor"],
            [],
            {"indoor": 30, "outdoor": 30, "weather: rainy": 30},
            [text.format("outdoor") for text in RAINY],
        ),
    ],
)
def test_from_an_upload_to_diagnose(
    pages: Pages,
    name: str,
    ending: str,
    content: Callable[[], bytes],
    heads: list[str],
    steps: list[str],
    counts: Mapping[str, int],
    finding: Sequence[str],
) -> None:
    """Choose a file, then load and diagnose: two steps, and one where the file leaves a choice."""
    page = pages.open("/datasets?dataset=urbancars&ds_view=Load+annotations")
    _upload(page, f"{name}.{ending}", content())
    for value in heads:
        expect(page.get_by_test_id("stText").filter(has_text=value).first).to_be_visible()
    for step in steps:
        _press(page, step)
    for row, images in counts.items():
        _expect_row(page, row, f"{images}")
    if ending not in ("json", "csv"):
        _expect_thumbnails(page)
        expect(page.get_by_text("60 pictures, ")).to_be_visible()
    screenshot(page, f"import-{ending}")
    _press(page, "Load and diagnose")
    headline, *cells = finding
    expect(page.get_by_role("heading", name=headline)).to_be_visible(timeout=LINGER_MS)
    _expect_row(page, *cells)
    if finding is TOGETHER:
        expect(page.get_by_role("radio", name="Together")).to_be_checked()
    screenshot(page, f"import-{ending}-diagnose")


def test_uploaded_pictures_stay_with_the_dataset(pages: Pages, name: str) -> None:
    """A table and a ZIP file of its pictures: two steps, and the pictures are there next time."""
    page = pages.open("/datasets?dataset=urbancars&ds_view=Load+annotations")
    files: list[FilePayload] = [
        {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": table()},
        {
            "name": "pictures.zip",
            "mimeType": "application/zip",
            "buffer": packed({f"photos/{n}.jpg": PIXELS for n in range(N)}),
        },
    ]
    page.locator("input[type=file]").set_input_files(files)
    _expect_thumbnails(page)
    button = page.get_by_role("button", name="Load and diagnose")
    place = button.bounding_box()
    page.evaluate(WATCH_LOADING, f"Loading {name}: ")
    button.click()
    expect(page.get_by_role("heading", name=RAINY[0].format("cat"))).to_be_visible(
        timeout=LINGER_MS
    )
    # The button stayed where it was, and the progress was in sight below it.
    loading = page.evaluate("window.loading")
    assert loading["button"] == place
    assert place is not None
    assert place["y"] < loading["progress"]["y"] < 900

    page = pages.open("/datasets?dataset=urbancars&ds_view=Load+annotations")
    _upload(page, f"{name}.csv", table())
    _expect_thumbnails(page)
    expect(page.get_by_text("are not found")).to_have_count(0)


def test_wrong_files_are_refused_in_a_sentence_and_deeper_folders_are_read(pages: Pages) -> None:
    page = pages.open("/datasets?dataset=urbancars&ds_view=Load+annotations")
    for file, content, said in (
        ("notes.txt", b"a few words", "Choose a table (CSV, TSV, Parquet, JSON lines)"),
        ("half.parquet", b"PAR1 and no more", "is no Parquet file that can be read"),
    ):
        _upload(page, file, content)
        expect(page.get_by_text(said)).to_be_visible()
        page.get_by_role("button", name=f"Remove {file}").click()
    _upload(page, "deep.zip", folders("set/{split}/{ctx}/{cls}/{n}.jpg"))
    expect(page.get_by_text("No image shows a concept.")).to_be_visible(timeout=LINGER_MS)
    _press(page, "Read as {context}/{class}/*")
    expect(page.get_by_role("button", name="Load and diagnose")).to_be_enabled(timeout=LINGER_MS)
    for row, images in {"cow": 30, "context: grass": 30, "Images to load": 60}.items():
        _expect_row(page, row, f"{images}")
