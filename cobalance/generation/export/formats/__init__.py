"""One module per export format, and the registry of them all."""

from typing import TYPE_CHECKING

from cobalance.base import Plugins

if TYPE_CHECKING:
    from cobalance.generation.export.exporter import ExportPlugin, StartExport

EXPORTERS: "Plugins[StartExport, ExportPlugin]" = Plugins(
    "export format",
    {
        "folder": "cobalance.generation.export.formats.folder",
        "coco": "cobalance.generation.export.formats.coco",
        "imagefolder": "cobalance.generation.export.formats.imagefolder",
        "webdataset": "cobalance.generation.export.formats.webdataset",
        "weights": "cobalance.generation.export.formats.sample_weights",
    },
    "exporters",
    "cobalance.generation.export.exporter.ExportPlugin",
    "(stream, staging)",
)
