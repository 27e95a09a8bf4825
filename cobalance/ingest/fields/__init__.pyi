from . import code_files as code_files, report as report, saved as saved
from .apply import apply_fields as apply_fields
from .choices import field_choices as field_choices, field_names as field_names
from .code_files import with_code_files as with_code_files
from .colour_files import parse_codes as parse_codes
from .roles import (
    NO_CLASS as NO_CLASS,
    has_classes as has_classes,
    with_class as with_class,
    with_split as with_split,
)
from .saved import with_saved as with_saved
