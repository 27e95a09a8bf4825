"""Images in a folder for each class."""

from dataclasses import dataclass, field

from cobalance.base.options import Options
from cobalance.generation.export.exporter import (
    ExportPlugin,
    ImageLocation,
    StartExport,
    WriterReport,
    write_image,
)
from cobalance.generation.export.images.image import ExportImage
from cobalance.generation.export.staging import Staging

PLUGIN = ExportPlugin(
    "listing",
    "Images in a folder, and a text file that lists them.",
    extra="worker",
    layout="- `images/`: the images.\n- `images.txt`: a line for each, its class last.\n",
)


@dataclass
class ListingWriter:
    """Writes one export."""

    staging: Staging
    lines: list[str] = field(default_factory=list)

    def add(self, image: ExportImage) -> ImageLocation:
        """Write an image."""
        location = write_image(self.staging, "images", image)
        self.lines.append(f"{location.uri}\t{image.class_name}\n")
        return location

    def finish(self) -> WriterReport:
        """Write the list."""
        self.staging.write("images.txt", "".join(self.lines).encode())
        return WriterReport(counts={"lines": len(self.lines)})


def open_export_format(options: Options) -> StartExport:
    """Start exports."""
    return lambda stream, staging: ListingWriter(staging)
