from .image_columns import (
    captions_by_image as captions_by_image,
    coco_images as coco_images,
    coco_texts as coco_texts,
    field as field,
    json_metadata as json_metadata,
    read_captions as read_captions,
)
from .records import (
    Attribute as Attribute,
    Category as Category,
    Id as Id,
    Image as Image,
    Records as Records,
    coco_kind as coco_kind,
    decode as decode,
    id_columns as id_columns,
    is_coco as is_coco,
    syntax_fault as syntax_fault,
)
