from .caption_columns import (
    ABOUT as ABOUT,
    caption_column as caption_column,
    is_text as is_text,
    read_caption_cells as read_caption_cells,
    table_texts as table_texts,
)
from .caption_file import image_rows as image_rows, with_captions as with_captions
