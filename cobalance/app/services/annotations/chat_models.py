"""Language models that the web app may ask: the operator's endpoint, and one that runs here."""

from typing import TYPE_CHECKING

from cobalance.app.services.annotations.proposing import open_endpoint, open_local
from cobalance.app.settings import Settings
from cobalance.graph.errors import OptionError, check_known
from cobalance.graph.plugins import is_installed

if TYPE_CHECKING:
    from cobalance.annotation.language.chat import ChatModel

ENDPOINT, LOCAL = "endpoint", "local"
ENDPOINT_HOW = (
    "To have a model at an address asked, whoever runs this app sets COBALANCE_CHAT_URL and "
    "COBALANCE_CHAT_MODEL, and COBALANCE_CHAT_KEY_FILE where it needs a key, and installs the "
    "extra `annotate`."
)


def available_models(settings: Settings) -> tuple[str, ...]:
    """The models that the app may ask, of `ENDPOINT` and `LOCAL`."""
    has_endpoint = settings.cobalance_chat_url is not None and is_installed("annotate")
    return (*[ENDPOINT] * has_endpoint, *[LOCAL] * is_installed("models"))


def open_model(settings: Settings, which: str) -> "ChatModel":
    """Open a model as the operator has set it.

    Raises
    ------
    UnknownNameError
        It is not available.
    OptionError
        The address, its model or its key cannot be used.
    MissingExtraError, JobBlockedError, OutOfMemoryError
        A model on this machine cannot be loaded.
    """
    check_known("language model", [which], available_models(settings))
    model, url = settings.cobalance_chat_model, settings.cobalance_chat_url
    if which == LOCAL:
        return open_local(model if url is None else None)
    if model is None or url is None:
        raise OptionError(
            "COBALANCE_CHAT_URL is set without COBALANCE_CHAT_MODEL. Name the model there."
        )
    return open_endpoint(url, model, settings.cobalance_chat_key_file)
