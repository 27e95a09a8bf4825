"""Image files in a folder, with a Parquet table that `ingest` reads."""

from dataclasses import dataclass, replace

from cobalance.base import Options
from cobalance.generation.export import exporter
from cobalance.generation.export.images.image import ExportImage
from cobalance.generation.export.staging import Staging

PLUGIN = exporter.ExportPlugin(
    "folder",
    "Image files in a folder, with a Parquet table.",
    extra="worker",
    can_reference=True,
    layout="""\
- `images/`: the images, under names that are valid in every file system.
- `masks/`: masks of the objects that generated images were made around, white on the object.
- `manifest.parquet`: their ids, classes, concepts, splits, regions, captions and licences.

```python
import pandas as pd

images = pd.read_parquet("manifest.parquet")  # uri is the path in this folder
```

cobalance can ingest `manifest.parquet` again, with this folder as the root of the images.
""",
)


@dataclass(frozen=True, eq=False)
class _FolderWriter:
    staging: Staging

    def add(self, image: ExportImage) -> exporter.ImageLocation:
        location = exporter.write_image(self.staging, "images", image)
        if image.mask is None:
            return location
        mask = f"masks/{image.stem}.png"
        self.staging.write(mask, image.mask)
        return replace(location, mask=mask)

    def finish(self) -> exporter.WriterReport:
        return exporter.WriterReport()


def open_export_format(_options: Options) -> exporter.StartExport:
    """Start exports: ``images/``, and ``masks/`` of generated images."""
    return lambda _stream, staging: _FolderWriter(staging)
