"""Image files in a folder, with a Parquet table that `ingest` reads."""

from dataclasses import dataclass, replace

from generation.export.formats.exporter import ImageLocation, Writer, WriterReport, write_image
from generation.export.images.image import ExportImage
from generation.export.images.stream import ImageStream
from generation.export.writing.staging import Staging
from graph.options import Options
from graph.plugins import Plugin

PLUGIN = Plugin(
    "folder",
    "Image files in a folder, with a Parquet table.",
    extra="worker",
)


@dataclass(frozen=True)
class FolderExporter:
    """Writes ``images/``, and ``masks/`` for generated images."""

    has_images: bool = True
    can_reference: bool = True
    shuffled: bool = False
    layout: str = """\
- `images/`: the images, under names that are valid in every file system.
- `masks/`: masks of the objects that generated images were made around, white on the object.
- `manifest.parquet`: their ids, classes, concepts, splits and regions.

```python
import pandas as pd

images = pd.read_parquet("manifest.parquet")  # uri is the path in this folder
```

cobalance can ingest `manifest.parquet` again, with this folder as the root of the images.
"""

    def start(self, stream: ImageStream, staging: Staging) -> Writer:  # noqa: ARG002
        """Start an export."""
        return _FolderWriter(staging)


@dataclass(frozen=True, eq=False)
class _FolderWriter:
    staging: Staging

    def add(self, image: ExportImage) -> ImageLocation:
        location = write_image(self.staging, "images", image)
        if image.mask is None:
            return location
        mask = f"masks/{image.stem}.png"
        self.staging.write(mask, image.mask)
        return replace(location, mask=mask)

    def finish(self) -> WriterReport:
        return WriterReport()


def open_export_format(options: Options) -> FolderExporter:  # noqa: ARG001
    """Create the exporter."""
    return FolderExporter()
