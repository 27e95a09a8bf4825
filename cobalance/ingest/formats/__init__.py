"""One module per annotation format, and the registry of them all.

The order of the registry is the order of detection: the plainest text comes last, and plug-ins are
tried after all of cobalance's own.
"""

from typing import TYPE_CHECKING

from cobalance.base import Declarations

if TYPE_CHECKING:
    from cobalance.ingest.reader import Format

_TOOLS = "cobalance.ingest.formats.labelling_tools"
_LABEL_STUDIO = "cobalance.ingest.formats.label_studio"
_LABELBOX = "cobalance.ingest.formats.labelbox"
_LIBRARIES = "cobalance.ingest.formats.training_libraries"
_CAPTION_LISTS = "cobalance.ingest.formats.caption_lists"
_VIA = "cobalance.ingest.formats.via"
_PUBLISHED = "cobalance.ingest.formats.published_datasets"
_BOX_LISTS = "cobalance.ingest.formats.box_lists"
_TABLE = "cobalance.ingest.formats.table"

FORMATS: "Declarations[Format]" = Declarations(
    "format",
    {
        "coco-panoptic": _PUBLISHED,
        "label-studio": _LABEL_STUDIO,
        "label-studio-min": _LABEL_STUDIO,
        "label-studio-csv": "cobalance.ingest.formats.label_studio_csv",
        "labelbox": _LABELBOX,
        "labelbox-json": _LABELBOX,
        "supervisely": "cobalance.ingest.formats.supervisely",
        "kili": "cobalance.ingest.formats.kili",
        "labelme": _TOOLS,
        "via": _VIA,
        "via-csv": _VIA,
        "via-3": _VIA,
        "createml": _TOOLS,
        "darwin": "cobalance.ingest.formats.darwin",
        "datumaro": "cobalance.ingest.formats.datumaro",
        "vott": _TOOLS,
        "superannotate": _TOOLS,
        "cityscapes": _PUBLISHED,
        "clevr": _PUBLISHED,
        "bdd": _PUBLISHED,
        "scalabel": _PUBLISHED,
        "mapillary-vistas": _PUBLISHED,
        "ade20k": _PUBLISHED,
        "openmmlab": _LIBRARIES,
        "fiftyone-labels": _LIBRARIES,
        "kitti": _BOX_LISTS,
        "kitti-tracking": _BOX_LISTS,
        "visdrone": _BOX_LISTS,
        "dota": _BOX_LISTS,
        "wider-face": _BOX_LISTS,
        "mot": _BOX_LISTS,
        "visual-genome": "cobalance.ingest.formats.visual_genome",
        "nuimages": "cobalance.ingest.formats.nuimages",
        "karpathy": _CAPTION_LISTS,
        "token-captions": _CAPTION_LISTS,
        "lvis": "cobalance.ingest.formats.lvis",
        "coco-instances": "cobalance.ingest.formats.coco_instances",
        "coco-captions": "cobalance.ingest.formats.coco_captions",
        "fiftyone": "cobalance.ingest.formats.fiftyone_dataset",
        "yolo": "cobalance.ingest.formats.yolo",
        "cvat": "cobalance.ingest.formats.cvat",
        "pascal-voc": "cobalance.ingest.formats.pascal_voc",
        "open-images": "cobalance.ingest.formats.open_images",
        "hub-dataset": "cobalance.ingest.formats.hub_dataset",
        "webdataset": "cobalance.ingest.formats.webdataset",
        "semantic-masks": "cobalance.ingest.formats.semantic_masks",
        "image-folder": "cobalance.ingest.formats.image_folder",
        "parquet": _TABLE,
        "croissant": _TABLE,
        "jsonl": _TABLE,
        "list-attr": _TABLE,
        "list": _TABLE,
        "spaced": _TABLE,
        "tsv": _TABLE,
        "csv": _TABLE,
    },
    "formats",
    "cobalance.ingest.reader.Format",
)
