from . import run as run
from .run import ConsoleResult as ConsoleResult, run_console_query as run_console_query
from .values import NodeValue as NodeValue, RelationshipValue as RelationshipValue
