from . import labels as labels, settings as settings
from .labels import (
    Example as Example,
    examples as examples,
    label_summary as label_summary,
    present as present,
    read_labels as read_labels,
)
from .remote import check_remote as check_remote, open_remote as open_remote
from .settings import (
    LabelledAttribute as LabelledAttribute,
    LabelSettings as LabelSettings,
    Rule as Rule,
)
