#!/usr/bin/env bash
# darwin-py writes an object of several parts to COCO as a crowd with an area of 0.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet darwin-py==3.6.3

cat > "$folder/annotation.json" <<'JSON'
{
  "version": "2.0",
  "item": {
    "name": "a.jpg", "path": "/",
    "slots": [{"type": "image", "slot_name": "0", "width": 40, "height": 20,
               "source_files": [{"file_name": "a.jpg", "url": ""}]}]
  },
  "annotations": [
    {"id": "1", "name": "cow", "slot_names": ["0"], "properties": [],
     "polygon": {"paths": [[{"x": 2, "y": 2}, {"x": 12, "y": 2}, {"x": 12, "y": 12}, {"x": 2, "y": 12}]]}},
    {"id": "2", "name": "cow", "slot_names": ["0"], "properties": [],
     "polygon": {"paths": [[{"x": 2, "y": 2}, {"x": 12, "y": 2}, {"x": 12, "y": 12}, {"x": 2, "y": 12}],
                           [{"x": 20, "y": 2}, {"x": 30, "y": 2}, {"x": 30, "y": 12}, {"x": 20, "y": 12}]]}}
  ]
}
JSON

mkdir "$folder/out" && cd "$folder"
venv/bin/python - <<'PYTHON'
import json
from importlib.metadata import version
from pathlib import Path

from darwin.exporter.formats import coco
from darwin.utils import parse_darwin_json

print("darwin-py", version("darwin-py"))
print("expected: a cow in one piece of 10 by 10 pixels has an area of about 100, one that a tree")
print("          divides into two such pieces an area of about 200; neither is a crowd")

file = parse_darwin_json(Path("annotation.json"), None)
coco.export(iter([file]), Path("out"))
written = json.loads(next(Path("out").rglob("*.json")).read_text())
found = [(row["area"], row["iscrowd"]) for row in written["annotations"]]
for name, (area, is_crowd) in zip(("one piece", "two pieces"), found, strict=True):
    print(f"seen: a cow in {name} has area {area:g} and iscrowd {is_crowd}")
print("COCO's evaluation does not count crowds, and takes an area of 0 for a small object")

(whole_area, whole_crowd), (divided_area, divided_crowd) = found
assert 90 <= whole_area <= 110, whole_area
assert (whole_crowd, divided_area, divided_crowd) == (0, 0, 1), found
PYTHON
