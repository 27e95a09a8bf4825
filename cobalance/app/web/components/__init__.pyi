from . import (
    details as details,
    first_steps as first_steps,
    gallery as gallery,
    graph_colors as graph_colors,
    imbalance_filters as imbalance_filters,
    job_form as job_form,
    mine_button as mine_button,
    model_accuracy as model_accuracy,
    panel as panel,
    saved_views as saved_views,
)
from .change_table import (
    change_columns as change_columns,
    classes_by_column as classes_by_column,
)
from .graph_choices import (
    CLASS as CLASS,
    CONCEPT as CONCEPT,
    EXPANDED as EXPANDED,
    KIND as KIND,
    choose_axis as choose_axis,
    collapse_all as collapse_all,
    make_centre as make_centre,
    prefer_sides as prefer_sides,
)
from .graph_story import (
    draw_plan as draw_plan,
    draw_story as draw_story,
)
from .imbalance_table import (
    disagreement_column as disagreement_column,
    imbalance_columns as imbalance_columns,
    imbalance_view as imbalance_view,
    rate_column as rate_column,
)
from .model_accuracy import (
    with_seed as with_seed,
)
from .option_fields import (
    draw_model_options as draw_model_options,
    draw_options as draw_options,
    draw_purpose as draw_purpose,
)
from .shown_images import (
    LIGHTBOX_PX as LIGHTBOX_PX,
    OPENED as OPENED,
    ROLES as ROLES,
    THUMBNAIL_PX as THUMBNAIL_PX,
    draw_grid as draw_grid,
    draw_one as draw_one,
    draw_tagging as draw_tagging,
    image_files as image_files,
    open_image as open_image,
    uris_of as uris_of,
)
from .workers import (
    draw_workers as draw_workers,
    say_needs as say_needs,
    task_buttons as task_buttons,
)
