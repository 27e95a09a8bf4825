"""What reading annotations assumed, skipped and set aside, printed."""

from cobalance.app.cli.common import notes
from cobalance.app.cli.wording import in_shell
from cobalance.graph.records import Annotations
from cobalance.ingest.concepts.plurals import counted
from cobalance.ingest.problems import SkippedRecord

_SHOWN = 5  # messages of skipped records


def print_reader_notes(annotations: Annotations) -> None:
    """Print the reader's notes, skipped records, and images set aside."""
    for note in annotations.notes:
        notes.print(f"Note: {note}", markup=False)
    if annotations.skipped:
        some = len(annotations.skipped)
        notes.print(f"Skipped {counted(some, 'malformed records')}:")
        for message in annotations.skipped[:_SHOWN]:
            said = message.error.worded(in_shell) if isinstance(message, SkippedRecord) else message
            notes.print(f"  {said}", markup=False)
        if some > _SHOWN:
            notes.print(f"  ... and {some - _SHOWN:,} more.")
    for reason, images in annotations.set_aside.items():
        notes.print(f"Set aside {images:,}: {reason}.", markup=False)
