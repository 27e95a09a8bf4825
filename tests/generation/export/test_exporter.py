"""A new format is one module, and one line in the registry."""

from cobalance.base.registry import Plugins
from cobalance.generation import export as package
from cobalance.generation.export import ExportOptions, export

CSV_FORMAT = '''
"""A CSV file of images and classes, beside the images."""

from dataclasses import dataclass, field

from cobalance.generation.export.exporter import ExportPlugin, WriterReport, write_image
from cobalance.base.options import Options


class CsvOptions(Options):
    """The character between columns."""

    delimiter: str = ","


PLUGIN = ExportPlugin(
    "csv",
    "Images, and a CSV file of their classes.",
    options=CsvOptions,
    can_reference=True,
    layout="- `classes.csv`: address and class of each image.",
)


@dataclass(frozen=True)
class CsvWriter:
    staging: object
    delimiter: str
    lines: list[str] = field(default_factory=list)

    def add(self, image):
        location = write_image(self.staging, "images", image)
        self.lines.append(f"{location.uri}{self.delimiter}{image.class_name}\\n")
        return location

    def finish(self):
        self.staging.write("classes.csv", "".join(self.lines).encode())
        return WriterReport({"lines": len(self.lines)})


def open_export_format(options):
    return lambda stream, staging: CsvWriter(staging, options.delimiter)
'''


def test_a_new_format_is_one_module_and_one_line(sample, tmp_path, monkeypatch):
    (tmp_path / "new" / "csv_format.py").parent.mkdir()
    (tmp_path / "new" / "csv_format.py").write_text(CSV_FORMAT)
    monkeypatch.syspath_prepend(tmp_path / "new")
    monkeypatch.setattr(package, "EXPORTERS", Plugins("export format", {"csv": "csv_format"}))
    options = ExportOptions(reference=True, format_options={"delimiter": ";"})
    report = export(sample.dataset, "csv", tmp_path / "out", options)
    lines = (tmp_path / "out" / "classes.csv").read_text().splitlines()
    assert len(lines) == report.counts["lines"] == 15
    assert "0.png;sea | <script>alert(1)</script> *bird*" in lines
    assert "`classes.csv`" in (tmp_path / "out" / "README.md").read_text()
