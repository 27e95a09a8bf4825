"""One module per annotation format, and the registry of their readers.

The order of the registry is the order of detection: the plainest text comes last.
"""

from graph.registry import Registry
from ingest.formats.coco_captions import CocoCaptions
from ingest.formats.coco_instances import CocoInstances
from ingest.formats.pascal_voc import PascalVoc
from ingest.formats.table import TableReader
from ingest.reader import Reader
from ingest.tables import TABLES

FORMATS: Registry[Reader] = Registry("format")
FORMATS.register("coco-instances", CocoInstances())
FORMATS.register("coco-captions", CocoCaptions())
FORMATS.register("pascal-voc", PascalVoc())
for _name, _format in TABLES.items():
    FORMATS.register(_name, TableReader(_format))
