"""What an export is, as Croissant: JSON-LD that dataset search and loaders read.

https://docs.mlcommons.org/croissant/docs/croissant-spec.html, version 1.0. It names no licence,
address, citation or date: those are the user's to give.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from generation.export.writing.tables import TableFile

NAME = "croissant.json"

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
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
    rai: Mapping[str, str],
) -> bytes:
    """Describe an export.

    Parameters
    ----------
    name, description : str
        Of the dataset.
    files : mapping of str to (str, int)
        Digest (SHA-256) and size of each file, by its path. Images are described as sets, a set a
        folder and ending.
    tables : iterable of TableFile
        Those of the files that are tables, with their columns.
    rai : mapping of str to str
        Properties of Croissant's vocabulary for responsible AI.
    """
    objects, sets = [], dict[str, dict[str, Any]]()
    for path in sorted(files):
        digest, n_bytes = files[path]
        place = PurePosixPath(path)
        if place.suffix in _FILE_TYPES:
            objects.append(
                {
                    "@type": "cr:FileObject",
                    "@id": path,
                    "name": place.name,
                    "contentUrl": path,
                    "contentSize": f"{n_bytes} B",
                    "encodingFormat": _FILE_TYPES[place.suffix],
                    "sha256": digest,
                }
            )
        else:
            includes = f"{place.parent.as_posix()}/*{place.suffix}"
            sets[includes] = {
                "@type": "cr:FileSet",
                "@id": includes,
                "name": includes,
                "encodingFormat": _IMAGE_TYPES.get(place.suffix, f"image/{place.suffix[1:]}"),
                "includes": includes,
            }
    about = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        "description": description,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **{f"rai:{key}": value for key, value in rai.items()},
        "distribution": [*objects, *sets.values()],
        "recordSet": [_record_set(table) for table in tables],
    }
    return (json.dumps(about, ensure_ascii=False, indent=2) + "\n").encode()


def _record_set(table: TableFile) -> dict[str, Any]:
    identity = table.name.removesuffix(".parquet")
    fields = []
    for name, column in table.columns.items():
        kind, repeated = _data_type(column.type)
        if kind is not None:
            fields.append(
                {
                    "@type": "cr:Field",
                    "@id": f"{identity}/{name}",
                    "name": name,
                    "description": column.meaning,
                    "dataType": kind,
                    **({"repeated": True} if repeated else {}),
                    "source": {"fileObject": {"@id": table.name}, "extract": {"column": name}},
                }
            )
    return {
        "@type": "cr:RecordSet",
        "@id": identity,
        "name": identity,
        "description": table.meaning,
        "key": {"@id": f"{identity}/{table.key}"},
        "field": fields,
    }


def _data_type(kind: pa.DataType) -> tuple[str | None, bool]:
    """Give Croissant's name of a type, and whether there are many; None for structures."""
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
