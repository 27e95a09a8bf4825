from .reading import (
    SUFFIXES as SUFFIXES,
    check_vectors as check_vectors,
    read_arrays as read_arrays,
    read_embeddings as read_embeddings,
)
from .similarity import (
    Vectors as Vectors,
    groups_of as groups_of,
    near_pairs as near_pairs,
    nearest as nearest,
    principal_axes as principal_axes,
)
from .stored import (
    embedding_files as embedding_files,
    read_stored as read_stored,
    read_vectors as read_vectors,
    time_written as time_written,
    write_embeddings as write_embeddings,
    write_table as write_table,
)
