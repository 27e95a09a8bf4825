from .class_names import (
    labels_beside as labels_beside,
    labels_from_texts as labels_from_texts,
    labels_of_objects as labels_of_objects,
)
from .group_words import (
    EditMode as EditMode,
    GroupWords as GroupWords,
    WordRow as WordRow,
    normal as normal,
)
from .renaming import (
    apply_concept_table as apply_concept_table,
    read_concept_table as read_concept_table,
)
from .vocabulary import CAPTION as CAPTION, load_vocabulary as load_vocabulary
from .word_lists import (
    group_list_names as group_list_names,
    load_group_words as load_group_words,
    telling as telling,
)
