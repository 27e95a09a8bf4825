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
from .noun_plurals import plural_forms as plural_forms
from .renaming import (
    apply_concept_table as apply_concept_table,
    read_concept_table as read_concept_table,
)
from .vocabulary import (
    CAPTION as CAPTION,
    Vocabulary as Vocabulary,
    load_vocabulary as load_vocabulary,
    words_of as words_of,
)
from .word_lists import (
    combine_words as combine_words,
    group_list_names as group_list_names,
    load_group_words as load_group_words,
    phrases_of as phrases_of,
    telling as telling,
    word_list_names as word_list_names,
)
