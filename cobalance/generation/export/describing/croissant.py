"""Croissant metadata of an export: JSON-LD for dataset search engines and loaders.

https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html with the vocabulary of responsible
AI, https://docs.mlcommons.org/croissant/docs/croissant-rai-spec.html, and of provenance,
https://www.w3.org/TR/prov-o/. Licence, address, citation and date are left for the user to add.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from cobalance.generation.export.tables import TableFile

NAME = "croissant.json"

_TERMS = """
arrayShape citeAs column containedIn equivalentProperty excludes extract field fileObject
fileProperty fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path
readLines recordSet references regex repeated replace samplingRate sdVersion separator source
subField transform unArchive value
"""
CROISSANT_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
CROISSANT_VERSIONS = [
    "http://mlcommons.org/croissant/1.1",
    "http://mlcommons.org/croissant/RAI/1.0",
]
"""What the metadata conforms to."""
_FILE_TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".parquet": "application/x-parquet",
    ".tar": "application/x-tar",
}
_IMAGE_TYPES = {".jpg": "image/jpeg", ".tif": "image/tiff", ".ppm": "image/x-portable-pixmap"}


def croissant(
    name: str,
    description: str,
    files: Mapping[str, tuple[str, int]],
    tables: Iterable[TableFile],
    rai: Mapping[str, str | Sequence[str]],
    further: Mapping[str, Any] | None = None,
) -> bytes:
    """Write the metadata.

    Parameters
    ----------
    files : mapping of str to (str, int)
        Digest (SHA-256) and size in bytes of each file, by path. Images of one folder and
        extension are described together.
    rai : mapping of str to str
        Properties of Croissant's responsible AI vocabulary.
    further : mapping of str to object, optional
        Further properties, such as provenance; record sets are added to those of the tables.
    """
    further = dict(further or {})
    record_sets = further.pop("recordSet", [])
    # Files of any other kind are images: a set for each folder and kind.
    objects, sets = [], dict[str, dict[str, Any]]()
    for path in sorted(files):
        file = PurePosixPath(path)
        if file.suffix in _FILE_TYPES:
            objects.append(_file_object(file, *files[path]))
        else:
            file_set = _file_set(file)
            sets[file_set["@id"]] = file_set

    metadata = {
        "@context": CROISSANT_CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        "description": description,
        "conformsTo": CROISSANT_VERSIONS,
        **{f"rai:{key}": value for key, value in rai.items()},
        **further,
        "distribution": [*objects, *sets.values()],
        "recordSet": [*map(_record_set, tables), *record_sets],
    }
    return (json.dumps(metadata, ensure_ascii=False, indent=2) + "\n").encode()


def _file_object(file: PurePosixPath, digest: str, n_bytes: int) -> dict[str, Any]:
    """Describe a file that is part of the export by itself."""
    return {
        "@type": "cr:FileObject",
        "@id": file.as_posix(),
        "name": file.name,
        "contentUrl": file.as_posix(),
        "contentSize": f"{n_bytes} B",
        "encodingFormat": _FILE_TYPES[file.suffix],
        "sha256": digest,
    }


def _file_set(file: PurePosixPath) -> dict[str, Any]:
    """Describe the images of a file's folder that have its ending."""
    includes = f"{file.parent.as_posix()}/*{file.suffix}"
    return {
        "@type": "cr:FileSet",
        "@id": includes,
        "name": includes,
        "encodingFormat": _IMAGE_TYPES.get(file.suffix, f"image/{file.suffix[1:]}"),
        "includes": includes,
    }


def describe_field(
    record_set: str, name: str, meaning: str, data_type: str, *, is_array: bool
) -> dict[str, Any]:
    """Describe a field of a record set."""
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{record_set}/{name}",
        "name": name,
        "description": meaning,
        "dataType": data_type,
    }
    if is_array:
        field |= {"isArray": True, "arrayShape": "-1"}
    return field


def _record_set(table: TableFile) -> dict[str, Any]:
    """Describe a table: each column that Croissant has a type for."""
    identity = table.name.removesuffix(".parquet")
    fields = []
    for name, column in table.columns.items():
        data_type, is_array = _data_type(column.type)
        if data_type is None:
            continue

        field = describe_field(identity, name, column.meaning, data_type, is_array=is_array)
        field["source"] = {"fileObject": {"@id": table.name}, "extract": {"column": name}}
        fields.append(field)

    return {
        "@type": "cr:RecordSet",
        "@id": identity,
        "name": identity,
        "description": table.meaning,
        "key": {"@id": f"{identity}/{table.key}"},
        "field": fields,
    }


def _data_type(kind: pa.DataType) -> tuple[str | None, bool]:
    """Croissant's name of a type, and whether it is an array; None for structs."""
    if pa.types.is_list(kind):
        inner, _ = _data_type(kind.value_type)
        return inner, True

    for test, name in (
        (pa.types.is_string, "sc:Text"),
        (pa.types.is_boolean, "sc:Boolean"),
        (pa.types.is_integer, "sc:Integer"),
        (pa.types.is_floating, "sc:Float"),
        (pa.types.is_timestamp, "sc:Date"),
    ):
        if test(kind):
            return name, False
    return None, False
