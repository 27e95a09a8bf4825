from . import hub as hub, load as load, problems as problems, reader as reader
from .captions.caption_editor import CaptionEditor as CaptionEditor
from .captions.children import names_children as names_children
from .captions.credits import CREDITS as CREDITS, join_credits as join_credits
from .captions.image_texts import (
    caption_files as caption_files,
    read_image_texts as read_image_texts,
    write_image_texts as write_image_texts,
)
from .captions.text_changes import (
    MANY_GROUPS as MANY_GROUPS,
    NO_GROUP as NO_GROUP,
    NO_PERSON as NO_PERSON,
    REASONS as REASONS,
)
from .captions.word_editor import WordEditor as WordEditor
from .coco.records import Category as Category, Id as Id, Image as Image
from .concepts.group_words import GroupWords as GroupWords
from .concepts.noun_plurals import plural_forms as plural_forms
from .concepts.vocabulary import Vocabulary as Vocabulary, words_of as words_of
from .concepts.word_lists import (
    combine_words as combine_words,
    group_list_names as group_list_names,
    load_group_words as load_group_words,
    phrases_of as phrases_of,
    word_list_names as word_list_names,
)
from .embeddings.neighbourhoods import neighbourhoods as neighbourhoods
from .embeddings.reading import (
    SUFFIXES as SUFFIXES,
    check_vectors as check_vectors,
    read_arrays as read_arrays,
    read_embeddings as read_embeddings,
)
from .embeddings.similarity import (
    Vectors as Vectors,
    groups_of as groups_of,
    near_pairs as near_pairs,
    nearest as nearest,
    principal_axes as principal_axes,
)
from .embeddings.stored import (
    embedding_files as embedding_files,
    read_stored as read_stored,
    read_vectors as read_vectors,
    time_written as time_written,
    write_embeddings as write_embeddings,
    write_table as write_table,
)
from .fields.apply import add_concepts as add_concepts
from .fields.bins import equal_count_edges as equal_count_edges, name_bins as name_bins
from .fields.choices import (
    BINNED as BINNED,
    KINDS as KINDS,
    Choice as Choice,
    field_choices as field_choices,
    field_names as field_names,
)
from .fields.code_files import with_code_files as with_code_files
from .fields.concepts import bin_edges as bin_edges, read_column as read_column
from .fields.report import (
    describe_fields as describe_fields,
    fields_table as fields_table,
    offer_class as offer_class,
)
from .formats import FORMATS as FORMATS
from .formats.table import read_table as read_table
from .frames import TEXT as TEXT
from .hub import local_path as local_path
from .load import read_annotations as read_annotations, read_frame as read_frame, refine as refine
from .names import (
    encode_names as encode_names,
    name_fault as name_fault,
    split_of_file as split_of_file,
)
from .options import (
    ReadOptions as ReadOptions,
    code_names as code_names,
    declared_options as declared_options,
    pairs as pairs,
    plain_option as plain_option,
)
from .packed_pictures import (
    PackedPictures as PackedPictures,
    find_packed as find_packed,
    take_out_pictures as take_out_pictures,
)
from .paths import with_paths as with_paths
from .preview import (
    DATA_ENDINGS as DATA_ENDINGS,
    WHOLE_FOLDER as WHOLE_FOLDER,
    FoundFile as FoundFile,
    TableSample as TableSample,
    category_names as category_names,
    describe_file as describe_file,
    find_files as find_files,
    first_images as first_images,
    images_by_class as images_by_class,
    images_by_concept as images_by_concept,
    is_table as is_table,
    sample_table as sample_table,
    skipped_records as skipped_records,
    with_whole as with_whole,
)
from .problems import Problems as Problems, reword as reword, reword_all as reword_all
from .published import Key as Key, Published as Published, read_published as read_published
from .reader import read_head as read_head, read_start as read_start, read_text as read_text
from .tables.boxes import box_cells as box_cells
from .tables.concept_cells import (
    DELIMITERS as DELIMITERS,
    are_spaced as are_spaced,
    starts_list as starts_list,
)
from .tables.guesses import (
    USUAL_NAMES as USUAL_NAMES,
    Guess as Guess,
    is_list as is_list,
    normal_name as normal_name,
    usual_column as usual_column,
)
from .tables.hub_features import hub_features as hub_features, named_row as named_row
from .tables.list_attr import ID as ID, ListAttr as ListAttr
from .tables.loading import Table as Table, column_names as column_names
from .tables.parquet import (
    is_list_type as is_list_type,
    is_text_type as is_text_type,
    is_usable as is_usable,
    plain_column as plain_column,
    read_unlimited as read_unlimited,
)
from .tables.row_values import batch_rows as batch_rows, table_of_rows as table_of_rows
from .tables.sheets import guard_formulas as guard_formulas, read_sheet as read_sheet
from .tables.values import (
    FLAGS as FLAGS,
    encode_values as encode_values,
    name_values as name_values,
)
