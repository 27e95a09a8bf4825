"""Parts of Streamlit that are not its public interface; no other file imports them.

pyproject.toml binds Streamlit's version; `tests/contract/test_borrowed.py` says which part is gone.
"""

import json
import time
from base64 import b64encode
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from google.protobuf.message import DecodeError
from streamlit import config, runtime
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import memory_media_file_storage as media
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import DeletedFile
from streamlit.user_info import generate_login_redirect_url
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

OPTIONS = Path(__file__).with_name("streamlit.toml")
UPLOADS_PATH = "/_stcore/upload_file/"
"""Of uploaded files: then come the session's id and the file's."""
KEPT_S = 60
"""How long a picture is served after Streamlit has dropped it."""


class LingeringStorage(media.MemoryMediaFileStorage):
    """Streamlit storage of pictures that deletes them `KEPT_S` after they are dropped.

    Streamlit drops a picture as soon as no run has it: also when a run is cut short before it comes
    to pictures that are still on the page, or when another session's run ends just then. A browser
    that asks for them next would get 404, and show a broken picture.

    Streamlit's manager calls all but `get_file` under one lock.
    """

    def __init__(self, media_endpoint: str) -> None:
        super().__init__(media_endpoint)
        self._dropped_at: dict[str, float] = {}

    def load_and_get_id(self, *file: Any, **options: Any) -> str:
        """Add a file, or keep one that was dropped; return its id."""
        file_id = super().load_and_get_id(*file, **options)
        self._dropped_at.pop(file_id, None)
        return file_id

    def delete_file(self, file_id: str) -> None:
        """Mark a file as dropped; delete files dropped more than `KEPT_S` ago."""
        now = time.monotonic()
        self._dropped_at[file_id] = now
        # The dictionary is in the order of dropping; the file of now ends the loop.
        while now - self._dropped_at[oldest := next(iter(self._dropped_at))] > KEPT_S:
            del self._dropped_at[oldest]
            super().delete_file(oldest)


def configure(options: Mapping[str, Any]) -> None:
    """Set Streamlit's options: the file `OPTIONS`, then `options`.

    Files of the current folder and of the user's home (config.toml, secrets.toml) are ignored, and
    pictures kept by `LingeringStorage`; Streamlit has no option for either.
    """
    files = {"config.toml": [str(OPTIONS)]}
    config.get_config_files = lambda file_name: files.get(file_name, [])
    config.get_config_options(force_reparse=True, options_from_flags=dict(options))
    media.MemoryMediaFileStorage = LingeringStorage  # type: ignore[misc]


def picture_url(data: bytes, place: str) -> str:
    """The URL of a JPEG, for this person's session alone, as `st.image` makes one.

    `place` is where on the page it is: a picture that takes the place of another one frees it.
    """
    # Without a server a browser has nowhere to get it from.
    if not runtime.exists():
        return f"data:image/jpeg;base64,{b64encode(data).decode()}"
    url = runtime.get_instance().media_file_mgr.add(data, "image/jpeg", place)
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}{url}" if base else url


def signed_in_user(secret: str, cookies: Mapping[str, str]) -> dict[str, Any]:
    """The user of Streamlit's signed login cookie; empty without one."""

    def decode(name: str) -> bytes | None:
        return decode_signed_value(secret, name, cookies.get(name, ""))

    return json.loads(get_cookie_with_chunks(decode, USER_COOKIE_NAME) or "{}")


def login_url(provider: str) -> str:
    """The URL of Streamlit that leads to a login provider; valid for two minutes."""
    return generate_login_redirect_url(provider)


def filter_message(
    message: bytes, kinds: Collection[str], operations: Collection[str]
) -> bytes | None:
    """A browser's WebSocket message of certain kinds, or with certain operations; else None.

    A refresh by timer is without the clicks in it. Streamlit's page keeps a click for a moment, and
    then sends it by itself; a refresh that falls into that moment sends it, too, and its callback
    would be called twice.
    """
    try:
        parsed = BackMsg.FromString(message)
    except DecodeError:
        return None
    operation = parsed.backend_operation_request.WhichOneof("payload")
    if parsed.WhichOneof("type") not in kinds and operation not in operations:
        return None
    if not parsed.rerun_script.is_auto_rerun:
        return message

    # From the last one on, as what is deleted moves the others up.
    states = parsed.rerun_script.widget_states.widgets
    for position in reversed(range(len(states))):
        value_kind = states[position].WhichOneof("value") or ""
        if value_kind.endswith("trigger_value"):
            del states[position]
    return parsed.SerializeToString()


def remove_uploads(session: str, file: str | None = None) -> None:
    """Free an uploaded file of a session, or all of them."""
    if not runtime.exists():
        return
    files = runtime.get_instance().uploaded_file_mgr
    if file is None:
        files.remove_session_files(session)
    elif isinstance(files, MemoryUploadedFileManager):
        files.remove_file(session, file)


def has_lost_files(uploader: str) -> bool:
    """Whether the browser shows files in an uploader with this key that the server has no more."""
    files = st.session_state.get(uploader) or ()
    return any(isinstance(file, DeletedFile) for file in files)


def close_session(session: str) -> None:
    """End a session, with all that it keeps."""
    if runtime.exists():
        runtime.get_instance().close_session(session)


def session_id() -> str | None:
    """The id of the session that draws in this thread, if one does."""
    context = get_script_run_ctx()
    return None if context is None else context.session_id


def fragments_drawn() -> int:
    """Number of fragments that this run draws; 0 in a run of the whole page."""
    context = get_script_run_ctx()
    if context is None:
        return 0
    return len(context.fragment_ids_this_run or ())


def leave_containers() -> None:
    """Reset the container in which this thread draws to the page itself."""
    context_dg_stack.set(get_default_dg_stack_value())


def came_back() -> bool:
    """Whether this run is because of the browser's Back or Forward."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def correct_parameter(key: str, text: str) -> None:
    """Write a query parameter of a widget, and send the browser the whole URL.

    Streamlit does so where the run before ended, and not where it was cut short by a rerun; what
    that one sent may have replaced what the browser had written meanwhile.
    """
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as parameters:
            parameters.set_corrected_value(key, text, "string_value")
