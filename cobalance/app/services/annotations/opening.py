"""Open the annotator of a labelling run: a model here, or one behind an address."""

from pathlib import Path

from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.generation.output.folder import OutputFolder
from cobalance.graph.errors import needs_extra
from cobalance.ingest.annotators import ANNOTATORS
from cobalance.ingest.annotators.annotator import Annotator


def open_annotator(settings: LabelSettings, folder: OutputFolder, run: str) -> Annotator:
    """Open a run's annotator; the replies of an address are kept in the run's folder.

    Raises
    ------
    OptionError
        An option, the address or its key cannot be used.
    MissingExtraError
        It needs packages that are not installed.
    JobBlockedError
        Its model is missing, incomplete or of the wrong kind.
    """
    endpoint = settings.endpoint
    if endpoint is None:
        return ANNOTATORS.open(settings.annotator, settings.options)
    with needs_extra("Asking a language model", "annotate"):
        from cobalance.annotation.language.endpoint import Endpoint
    from cobalance.annotation.labelling.asked import open_asked
    from cobalance.annotation.language.endpoint_settings import read_key
    from cobalance.annotation.language.transcript import Transcript

    chat = Endpoint(
        endpoint.url,
        endpoint.model,
        key=None if endpoint.key_file is None else read_key(Path(endpoint.key_file)),
        timeout_s=endpoint.timeout_s,
        send_images=endpoint.send_images,
    )
    kept = Transcript(chat, folder, f"annotations/{run}/replies")
    return open_asked(settings.annotator, settings.options, endpoint, kept)
