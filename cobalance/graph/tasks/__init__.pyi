from . import lifecycle as lifecycle
from .lifecycle import (
    TaskState as TaskState,
    cancel_task as cancel_task,
    retry_task as retry_task,
    task_row as task_row,
)
