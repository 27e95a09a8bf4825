from . import (
    access as access,
    refreshing as refreshing,
    session as session,
    tasks as tasks,
    url as url,
)
from .access import (
    UNPROVEN as UNPROVEN,
    NotAllowedError as NotAllowedError,
    accept_uploads as accept_uploads,
    advice_or_unproven as advice_or_unproven,
    import_folders as import_folders,
    may_edit as may_edit,
    require_editor as require_editor,
    user as user,
    user_name as user_name,
)
from .refreshing import (
    refreshing_while as refreshing_while,
    rerun_page as rerun_page,
    run_began_s as run_began_s,
)
from .session import (
    CurrentDataset as CurrentDataset,
    names_of as names_of,
    read_names as read_names,
    store as store,
)
from .url import (
    MOST_NUMBER as MOST_NUMBER,
    Clique as Clique,
    choice_in_url as choice_in_url,
    id_in_url as id_in_url,
    in_url as in_url,
    named_in_url as named_in_url,
    number_in_url as number_in_url,
    text_in_url as text_in_url,
    write as write,
)
