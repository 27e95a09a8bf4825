from . import lifecycle as lifecycle
from .lifecycle import (
    ActiveTask as ActiveTask,
    StartedTask as StartedTask,
    Task as Task,
    TaskState as TaskState,
    active_tasks as active_tasks,
    cancel_task as cancel_task,
    create_task as create_task,
    end_task as end_task,
    fail_task as fail_task,
    list_tasks as list_tasks,
    read_task as read_task,
    release_task as release_task,
    report_task as report_task,
    retry_task as retry_task,
    start_task as start_task,
    task_row as task_row,
)
from .monitoring import GAUGES as GAUGES
