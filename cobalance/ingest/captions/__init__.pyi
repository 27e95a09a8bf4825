from .caption_columns import (
    ABOUT as ABOUT,
    caption_column as caption_column,
    is_text as is_text,
    read_caption_cells as read_caption_cells,
    table_texts as table_texts,
)
from .caption_editor import CaptionEditor as CaptionEditor
from .caption_file import image_rows as image_rows, with_captions as with_captions
from .children import names_children as names_children
from .credits import CREDITS as CREDITS, join_credits as join_credits
from .image_texts import (
    caption_files as caption_files,
    read_image_texts as read_image_texts,
    write_image_texts as write_image_texts,
)
from .text_changes import (
    MANY_GROUPS as MANY_GROUPS,
    NO_GROUP as NO_GROUP,
    NO_PERSON as NO_PERSON,
    REASONS as REASONS,
)
from .word_editor import WordEditor as WordEditor
