"""Pictures that came with annotations in one upload: in archives, in Parquet or beside them."""

import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cobalance.base import InputError, Progress, silent, track
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.pictures import ENDINGS, NamedPicture, PictureMatcher
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.parquet import read_unlimited, row_batches
from cobalance.ingest.trees import check_unfolding, is_tree, most_bytes, open_tree
from cobalance.vision import ImageFileError, read_header

# Bytes of a file's name that all file systems allow.
_LONGEST_NAME = 255


@dataclass(frozen=True)
class PackedPictures:
    """The pictures of some images, and where they are.

    Parameters
    ----------
    paths : mapping of Path to mapping of str to str
        For each folder or archive the path of a picture in it, by the address of its image.
    size_bytes : int
        What they take unpacked.
    """

    paths: dict[Path, dict[str, str]] = field(default_factory=dict)
    size_bytes: int = 0

    @property
    def addresses(self) -> set[str]:
        """Addresses of the images whose pictures these are."""
        return set().union(*self.paths.values())

    def unpack(
        self, folder: Path, only: Collection[str] | None = None, progress: Progress = silent
    ) -> None:
        """Write each picture to its image's address in a folder, over an older one.

        Parameters
        ----------
        only : collection of str, optional
            Addresses of the images whose pictures are written; None for all.

        Raises
        ------
        InputError
            An archive is damaged, or unfolds to more than it may.
        OSError
            The folder cannot be written.
        """
        addresses = self.addresses if only is None else self.addresses.intersection(only)
        for place, paths in self.paths.items():
            with open_tree(place) as tree:
                for _, address in track(progress, "keep pictures", list(addresses & {*paths})):
                    target = folder / address
                    target.parent.mkdir(parents=True, exist_ok=True)
                    # A copy of the dataset may share the old file.
                    target.unlink(missing_ok=True)
                    with tree.open(paths[address]) as picture, target.open("wb") as copy:
                        shutil.copyfileobj(picture, copy)


def find_packed(places: Sequence[Path], addresses: Iterable[str]) -> PackedPictures:
    """Look for images' pictures in folders and the archives in them, the first place first.

    Pictures of absolute addresses, and of those that lead out of a folder, are left where they are.

    Raises
    ------
    InputError
        An archive is damaged, or holds a path that leads out of it.
    """
    archives = [path for folder in places for path in sorted(folder.iterdir()) if path.is_file()]
    remaining = list(filter(_is_inside, dict.fromkeys(addresses)))
    matches: dict[Path, dict[str, str]] = {}
    size_bytes = 0

    for place in (*places, *filter(is_tree, archives)):
        with open_tree(place) as tree:
            # A WebDataset's addresses begin with the name of the shard.
            matcher = PictureMatcher(tree.below("", *ENDINGS), str(place))
            paths = matcher.match(map(NamedPicture, remaining))
            by_address = {
                address: path
                for address, path in zip(remaining, paths, strict=True)
                if path is not None
            }
            size_bytes += sum(map(tree.size_bytes, by_address.values()))

        if by_address:
            matches[place] = by_address
            remaining = [address for address in remaining if address not in by_address]
    return PackedPictures(matches, size_bytes)


def _is_inside(address: str) -> bool:
    """Whether an address is a path that a picture can be written to in any folder."""
    path = PurePosixPath(address)
    if path.is_absolute() or ".." in path.parts or "://" in address or "\0" in address:
        return False
    return max(len(part.encode()) for part in ("", *path.parts)) <= _LONGEST_NAME


def take_out_pictures(file: Path, folder: Path) -> None:
    """Write the pictures in a Parquet file's rows to files, and their paths in place of them.

    Each gets the number of its row, as the paths that Hugging Face keeps beside the bytes repeat,
    or are empty. A file without pictures, or one that cannot be read, stays as it is.

    Parameters
    ----------
    folder : Path
        The new folder for the pictures; paths begin with its name.

    Raises
    ------
    OSError
        The folder cannot be written.
    """
    with suppress(InputError, pa.ArrowException):
        schema = pq.read_schema(file)
        columns = [name for name in schema.names if _may_be_pictures(schema, name)]
        others = [name for name in schema.names if name not in columns]
        if not (columns and others):
            return
        # Further ones are masks or the like.
        column = columns[0]
        paths = list(_write_pictures(file, column, folder))
        if not any(paths):
            return

        table = read_unlimited(file, others)
        table = table.add_column(0, column, pa.array(paths, pa.string()))
        pq.write_table(table.replace_schema_metadata(schema.metadata), file)


def _may_be_pictures(schema: pa.Schema, name: str) -> bool:
    """Whether a column has bytes, alone or with a path as Hugging Face has them."""
    if schema.names.count(name) > 1:
        return False
    kind = schema.field(name).type
    if pa.types.is_struct(kind) and kind.names.count("bytes") == 1:
        kind = kind.field("bytes").type
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _write_pictures(file: Path, column: str, folder: Path) -> Iterator[str | None]:
    """Write each row's picture; yield its path, None for a row without one."""
    number = written_bytes = 0
    # The limit of tables is of what stays in memory, which pictures do not.
    options = ReadOptions(max_table_mb=most_bytes(file) // 1_000_000)
    for batch in row_batches(file, Problems(str(file), options)):
        values = batch.column(column)
        if pa.types.is_struct(values.type):
            values = pc.struct_field(values, "bytes")

        # One by one: the same bytes may be those of many rows.
        for value in values:
            content = value.as_py() or b""
            path = None
            with suppress(ImageFileError):
                path = f"{folder.name}/{number:06}.{read_header(content).suffix}"
                written_bytes += len(content)
                check_unfolding(file, most_bytes(file), written_bytes)
                folder.mkdir(parents=True, exist_ok=True)
                (folder.parent / path).write_bytes(content)
            yield path
            number += 1
