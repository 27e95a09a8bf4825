from . import cost as cost, options as options, review as review
from .attribute_flags import (
    PERCEIVED as PERCEIVED,
    UNSEEN as UNSEEN,
    Embed as Embed,
    flag_attributes as flag_attributes,
    is_sensitive as is_sensitive,
    names_sensitive_trait as names_sensitive_trait,
    ngram_vectors as ngram_vectors,
)
from .cost import chat_cost as chat_cost, measure_seconds as measure_seconds
from .extract import QUESTION as QUESTION, Extracted as Extracted, singular_names as singular_names
from .options import (
    ProposeOptions as ProposeOptions,
    preset_names as preset_names,
    read_preset as read_preset,
)
