from . import code_files as code_files, report as report, saved as saved
from .apply import add_concepts as add_concepts, apply_fields as apply_fields
from .bins import equal_count_edges as equal_count_edges, name_bins as name_bins
from .choices import (
    BINNED as BINNED,
    KINDS as KINDS,
    Choice as Choice,
    field_choices as field_choices,
    field_names as field_names,
)
from .code_files import with_code_files as with_code_files
from .colour_files import parse_codes as parse_codes
from .concepts import bin_edges as bin_edges, read_column as read_column
from .report import (
    describe_fields as describe_fields,
    fields_table as fields_table,
    offer_class as offer_class,
)
from .roles import (
    NO_CLASS as NO_CLASS,
    has_classes as has_classes,
    with_class as with_class,
    with_split as with_split,
)
from .saved import with_saved as with_saved
