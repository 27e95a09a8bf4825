"""One module per annotation format; importing the package registers them all.

Their order is the order of detection: the plainest text comes last.
"""

from ingest.formats import coco_instances, coco_captions, table  # noqa: I001  # the order counts

__all__ = ["coco_captions", "coco_instances", "table"]
