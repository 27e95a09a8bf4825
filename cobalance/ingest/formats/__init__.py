"""One module per annotation format, and the registry of their readers.

The order of the registry is the order of detection: the plainest text comes last.
"""

from cobalance.base import Declarations
from cobalance.ingest.formats.box_lists import BOX_LISTS
from cobalance.ingest.formats.coco_captions import CocoCaptions
from cobalance.ingest.formats.coco_instances import CocoInstances
from cobalance.ingest.formats.cvat import CVAT
from cobalance.ingest.formats.fiftyone_dataset import FiftyOneDataset
from cobalance.ingest.formats.hub_dataset import HubDataset
from cobalance.ingest.formats.image_folder import ImageFolder
from cobalance.ingest.formats.labelling_tools import TOOLS
from cobalance.ingest.formats.lvis import Lvis
from cobalance.ingest.formats.nuimages import NUIMAGES
from cobalance.ingest.formats.open_images import OpenImages
from cobalance.ingest.formats.pascal_voc import PASCAL_VOC
from cobalance.ingest.formats.table import TableReader
from cobalance.ingest.formats.visual_genome import VISUAL_GENOME
from cobalance.ingest.formats.webdataset import WebDataset
from cobalance.ingest.formats.yolo import Yolo
from cobalance.ingest.reader import Format
from cobalance.ingest.tables import TABLES


class Formats(Declarations[Format]):
    """Registry of formats; plug-ins are tried last."""

    def __getitem__(self, name: str) -> Format:
        own = self._entries.get(name)
        if own is None:
            return super().__getitem__(name)
        return Format(name, own.description, own)


FORMATS = Formats("format", group="formats", declaration="cobalance.ingest.reader.Format")
for _name, _tool in (TOOLS | BOX_LISTS).items():
    FORMATS.register(_name, _tool)
FORMATS.register("visual-genome", VISUAL_GENOME)
FORMATS.register("nuimages", NUIMAGES)
FORMATS.register("lvis", Lvis())
FORMATS.register("coco-instances", CocoInstances())
FORMATS.register("coco-captions", CocoCaptions())
FORMATS.register("fiftyone", FiftyOneDataset())
FORMATS.register("yolo", Yolo())
FORMATS.register("cvat", CVAT)
FORMATS.register("pascal-voc", PASCAL_VOC)
FORMATS.register("open-images", OpenImages())
FORMATS.register("hub-dataset", HubDataset())
FORMATS.register("webdataset", WebDataset())
FORMATS.register("image-folder", ImageFolder())
for _name, _format in TABLES.items():
    FORMATS.register(_name, TableReader(_format))
