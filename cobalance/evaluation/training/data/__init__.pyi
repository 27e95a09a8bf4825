from . import images as images, sets as sets
from .examples import code_examples as code_examples
from .images import LabelledImages as LabelledImages
from .reading import (
    TABLE as TABLE,
    read_export_images as read_export_images,
    read_folder_images as read_folder_images,
)
from .registry import SETS as SETS
