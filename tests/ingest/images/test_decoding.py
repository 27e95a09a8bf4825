"""The one place that opens image files."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
WITHOUT = """
import sys
sys.modules["PIL"] = sys.modules["fsspec"] = None
from graph.errors import MissingExtraError
from ingest.images.decoding import decode
from ingest.images.roots import ImageRoots

ImageRoots(["/"])
for use in (lambda: decode(b""), lambda: ImageRoots(["s3://bucket"])):
    try:
        use()
    except MissingExtraError as error:
        assert "cobalance[worker]" in str(error)
    else:
        raise AssertionError
"""


def test_no_other_module_opens_images() -> None:
    rooms = ("app", "evaluation", "generation", "graph", "ingest", "cobalance")
    openers = [
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in (ROOT / room).rglob("*.py")
        if "Image.open" in path.read_text("utf-8")
    ]
    assert openers == ["ingest/images/decoding.py"]


def test_the_core_imports_without_pillow_and_fsspec() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
