from . import tables as tables
from .allocator import avoid_huge_pages as avoid_huge_pages
from .assignments import (
    assigned as assigned,
    given as given,
    read_file as read_file,
    read_settings as read_settings,
)
from .collector import collector_paused as collector_paused
from .completion import complete_names as complete_names
from .deferred import imports_deferred as imports_deferred
from .ids import (
    EvaluationId as EvaluationId,
    EvaluationIds as EvaluationIds,
    JobId as JobId,
    RunId as RunId,
    WorkId as WorkId,
    find_id as find_id,
    full_id as full_id,
)
from .options import (
    Assignments as Assignments,
    Count as Count,
    DatasetName as DatasetName,
    DatasetOption as DatasetOption,
    FormatOption as FormatOption,
    LimitOption as LimitOption,
    Name as Name,
    OutputOption as OutputOption,
    SeedOption as SeedOption,
    SettingsFile as SettingsFile,
    SimilarityOption as SimilarityOption,
    YesOption as YesOption,
    clean_names as clean_names,
    confirm as confirm,
    listed_names as listed_names,
    note_changed as note_changed,
    note_limit as note_limit,
    prepare as prepare,
    read_clique as read_clique,
)
from .panels import (
    PeopleOption as PeopleOption,
    find_panel as find_panel,
    panel_url as panel_url,
    split_people as split_people,
)
from .progress import progress_bars as progress_bars
from .remedies import in_shell as in_shell
from .stores import (
    folders as folders,
    opened_store as opened_store,
    output_folder as output_folder,
    read_environment as read_environment,
)
from .tables import Format as Format, TableOutput as TableOutput, write_text as write_text
from .terminal import (
    Terminal as Terminal,
    notes as notes,
    out as out,
    print_traceback as print_traceback,
)
