from . import (
    documents as documents,
    errors as errors,
    options as options,
    plugins as plugins,
    records as records,
)
from .arrays import (
    STRING as STRING,
    BoolArray as BoolArray,
    FloatArray as FloatArray,
    Hashes as Hashes,
    IntArray as IntArray,
    hash_texts as hash_texts,
    mix_bits as mix_bits,
)
from .documents import (
    MOST_YAML as MOST_YAML,
    UNDECODABLE as UNDECODABLE,
    decode_json as decode_json,
    decode_toml as decode_toml,
    decode_xml as decode_xml,
    decode_yaml as decode_yaml,
    decoding_fault as decoding_fault,
)
from .errors import (
    Action as Action,
    CobalanceError as CobalanceError,
    ConflictError as ConflictError,
    ConstraintViolatedError as ConstraintViolatedError,
    DataError as DataError,
    DivergedError as DivergedError,
    InputError as InputError,
    JobBlockedError as JobBlockedError,
    MachineError as MachineError,
    MissingExtraError as MissingExtraError,
    NotFoundError as NotFoundError,
    OptionError as OptionError,
    OutOfMemoryError as OutOfMemoryError,
    Part as Part,
    QueryError as QueryError,
    QueryRefusedError as QueryRefusedError,
    QueryTextError as QueryTextError,
    QueryTimeoutError as QueryTimeoutError,
    SchemaVersionError as SchemaVersionError,
    Setting as Setting,
    StaleError as StaleError,
    StoreError as StoreError,
    StoreUnavailableError as StoreUnavailableError,
    Text as Text,
    TooManyCliquesError as TooManyCliquesError,
    UnknownNameError as UnknownNameError,
    WaitedTooLongError as WaitedTooLongError,
    Words as Words,
    argument_text as argument_text,
    check_known as check_known,
    needs_extra as needs_extra,
    parts_of as parts_of,
    render as render,
    require_one as require_one,
    suggest_names as suggest_names,
)
from .files import (
    ZIP_METHODS as ZIP_METHODS,
    check_new_file as check_new_file,
    make_file as make_file,
    make_folder as make_folder,
    read_within as read_within,
    replacing as replacing,
)
from .grouping import (
    R as R,
    T as T,
    group_pairs as group_pairs,
    map_optional as map_optional,
    positions_of as positions_of,
    values_at as values_at,
)
from .installation import install_command as install_command
from .judges import assign as assign
from .libraries import (
    Image as Image,
    diffusers as diffusers,
    huggingface_hub as huggingface_hub,
    linalg as linalg,
    optimize as optimize,
    pandas as pandas,
    safetensors as safetensors,
    sklearn as sklearn,
    sparse as sparse,
    special as special,
    sql as sql,
    stats as stats,
    torch as torch,
    transformers as transformers,
)
from .mention_rows import BLOCK as BLOCK, MentionRows as MentionRows
from .names import (
    IMAGE_PROPERTY as IMAGE_PROPERTY,
    clean_name as clean_name,
    is_image_property as is_image_property,
)
from .options import (
    NO_LIMIT as NO_LIMIT,
    MayBePath as MayBePath,
    Options as Options,
    first_fault as first_fault,
    path_options as path_options,
    read_options as read_options,
)
from .plugin_offers import (
    files_folder as files_folder,
    take_files_from as take_files_from,
)
from .plugins import (
    EXTRAS as EXTRAS,
    Plugin as Plugin,
    is_installed as is_installed,
    join_needs as join_needs,
    list_extras as list_extras,
)
from .plurals import agree as agree, inflect as inflect, text_if as text_if
from .progress import Progress as Progress, silent as silent, track as track
from .readable_names import (
    begins_with_a_vowel as begins_with_a_vowel,
    join_names as join_names,
    readable as readable,
    shorten_list as shorten_list,
    with_article as with_article,
)
from .records import (
    ALL_IMAGES as ALL_IMAGES,
    ANNOTATION as ANNOTATION,
    IMAGE_COLUMNS as IMAGE_COLUMNS,
    MENTION_NUMBERS as MENTION_NUMBERS,
    Annotations as Annotations,
    Box as Box,
    Counterfactual as Counterfactual,
    Edit as Edit,
    Field as Field,
    ImageRecord as ImageRecord,
    Mention as Mention,
    Metadata as Metadata,
    PlannedQuery as PlannedQuery,
    category as category,
    decimal_text as decimal_text,
    defined_rows as defined_rows,
    image_frame as image_frame,
    plain_values as plain_values,
    stack_frames as stack_frames,
)
from .registry import (
    Declaration as Declaration,
    Declarations as Declarations,
    PluginError as PluginError,
    Plugins as Plugins,
    Registry as Registry,
    misfit as misfit,
)
from .run_log import (
    Level as Level,
    LogFormat as LogFormat,
    log_run as log_run,
    write_log as write_log,
)
from .safe_text import mask_credentials as mask_credentials, show_controls as show_controls
