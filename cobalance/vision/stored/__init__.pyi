from . import output_folder as output_folder
from .dataset_files import DatasetFiles as DatasetFiles
from .sorted_parquet import (
    SortedFile as SortedFile,
    open_sorted as open_sorted,
    read_rows as read_rows,
    write_sorted as write_sorted,
)
