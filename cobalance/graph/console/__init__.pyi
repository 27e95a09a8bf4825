from . import run as run
from .completions import editor_words as editor_words
from .run import (
    EXAMPLE as EXAMPLE,
    ConsoleResult as ConsoleResult,
    run_console_query as run_console_query,
)
from .values import (
    NodeValue as NodeValue,
    PathValue as PathValue,
    RelationshipValue as RelationshipValue,
)
