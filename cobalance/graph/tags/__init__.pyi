from . import applying as applying, tags as tags
from .applying import (
    TagChanges as TagChanges,
    apply_tags as apply_tags,
    find_left_out as find_left_out,
    pending_tags as pending_tags,
)
from .roles import TagRole as TagRole
from .saved_views import (
    delete_view as delete_view,
    list_views as list_views,
    rename_view as rename_view,
    save_view as save_view,
)
from .tags import (
    delete_tag as delete_tag,
    images_of_tag as images_of_tag,
    list_notes as list_notes,
    list_tags as list_tags,
    marks_of_images as marks_of_images,
    set_role as set_role,
    tag_images as tag_images,
    untag_images as untag_images,
    write_note as write_note,
)
