from .charts import (
    FIT_WIDTH as FIT_WIDTH,
    before_and_after as before_and_after,
    name_color as name_color,
    names_axis as names_axis,
)
from .controls import (
    button_type as button_type,
    caption_with_csv as caption_with_csv,
    choose_named as choose_named,
    choose_one as choose_one,
    choose_split as choose_split,
    choose_view as choose_view,
    default_unless_set as default_unless_set,
    download as download,
    download_table as download_table,
    index_or_first as index_or_first,
)
from .labels import (
    bold as bold,
    clique_labels as clique_labels,
    distinct_labels as distinct_labels,
    escape as escape,
    minus_signs as minus_signs,
    shorten as shorten,
    shorten_middle as shorten_middle,
    unless_empty as unless_empty,
)
from .messages import (
    KEPT_ERROR as KEPT_ERROR,
    edits as edits,
    empty_state as empty_state,
    errors_in_fragment as errors_in_fragment,
    errors_kept as errors_kept,
    errors_shown as errors_shown,
    show_error as show_error,
    show_kept_error as show_kept_error,
    show_task as show_task,
    viewer_note as viewer_note,
)
from .page import Page as Page
from .tables import (
    count_column as count_column,
    draw_columns as draw_columns,
    draw_table as draw_table,
    grid as grid,
    percent_column as percent_column,
    percent_done as percent_done,
    row_values as row_values,
    table_height as table_height,
    text_column as text_column,
)
from .wording import (
    IF_EXISTS as IF_EXISTS,
    LABELS as LABELS,
    ON_ERROR as ON_ERROR,
    in_app as in_app,
    meaning as meaning,
)
