"""What is borrowed from other packages' internals is still there; else a sentence says what to do.

Each part is used by one file. pyproject.toml binds the versions of the packages.
"""

import ast
import inspect
import tomllib
from importlib import import_module
from typing import Any

import pytest
from packaging.requirements import Requirement

from cobalance.app.web.server import streamlit_internals
from cobalance.graph.database.store import GraphStore
from tests.contract.syntax import ROOT

STREAMLIT = "cobalance/app/web/server/streamlit_internals.py"
BORROWED = [
    (STREAMLIT, "streamlit.auth_util", "get_cookie_with_chunks"),
    (STREAMLIT, "streamlit.config", "get_config_files"),
    (STREAMLIT, "streamlit.config", "get_config_options"),
    (STREAMLIT, "streamlit.delta_generator_singletons", "context_dg_stack"),
    (STREAMLIT, "streamlit.delta_generator_singletons", "get_default_dg_stack_value"),
    (STREAMLIT, "streamlit.proto.BackMsg_pb2", "BackMsg.FromString"),
    (STREAMLIT, "streamlit.runtime", "Runtime.close_session"),
    (STREAMLIT, "streamlit.runtime", "Runtime.media_file_mgr"),
    (STREAMLIT, "streamlit.runtime", "Runtime.uploaded_file_mgr"),
    (STREAMLIT, "streamlit.runtime.memory_media_file_storage", "MemoryMediaFileStorage.get_file"),
    (
        STREAMLIT,
        "streamlit.runtime.memory_uploaded_file_manager",
        "MemoryUploadedFileManager.remove_file",
    ),
    (STREAMLIT, "streamlit.runtime.scriptrunner", "get_script_run_ctx"),
    (STREAMLIT, "streamlit.runtime.state.query_params", "QueryParams.set_corrected_value"),
    (STREAMLIT, "streamlit.runtime.uploaded_file_manager", "DeletedFile"),
    (STREAMLIT, "streamlit.user_info", "generate_login_redirect_url"),
    (STREAMLIT, "streamlit.web.server.starlette.starlette_app_utils", "decode_signed_value"),
    (STREAMLIT, "streamlit.web.server.starlette.starlette_server_config", "USER_COOKIE_NAME"),
    ("cobalance/app/cli/main.py", "typer.rich_utils", "Console"),
    (
        "cobalance/annotation/annotators/grounding_dino.py",
        "transformers.models.grounding_dino.modeling_grounding_dino",
        "SPECIAL_TOKENS",
    ),
]
BOUND = ("dbos", "streamlit", "typer", "neo4j", "neo4j-rust-ext")


def gone(file: str, what: str) -> str:
    return f"{what} is gone, which {file} borrows. Find its successor, or keep the version."


@pytest.mark.parametrize(("file", "module", "name"), BORROWED)
def test_a_borrowed_part_is_still_there(file: str, module: str, name: str) -> None:
    found = import_module(module)
    for part in name.split("."):
        assert hasattr(found, part), gone(file, f"{module}.{name}")
        found = getattr(found, part)
    assert module.rpartition(".")[2] in (ROOT / file).read_text(encoding="utf-8")


def test_streamlit_serves_uploads_where_their_limits_look() -> None:
    server = import_module("streamlit.web.server.server")
    path = streamlit_internals.UPLOADS_PATH
    assert f"{server.UPLOAD_FILE_ENDPOINT}/" == path, gone(STREAMLIT, path)


def test_a_run_of_a_page_has_what_is_read_of_it() -> None:
    module = "streamlit.runtime.scriptrunner_utils.script_run_context"
    fields = import_module(module).ScriptRunContext.__dataclass_fields__
    for name in ("fragment_ids_this_run", "is_history_navigation", "session_id", "session_state"):
        assert name in fields, gone(STREAMLIT, f"{module}.ScriptRunContext.{name}")


def test_a_transaction_of_the_driver_has_the_socket_that_is_wrapped(store: GraphStore) -> None:
    with store.driver.session() as session, session.begin_transaction() as transaction:
        found: object = transaction
        for part in ("_connection", "inbox", "_socket", "recv_into"):
            assert hasattr(found, part), gone("cobalance/graph/console/message_limit.py", part)
            found = getattr(found, part)


def test_a_session_of_the_driver_can_send_begin_with_the_query(store: GraphStore) -> None:
    name = "_pipelined_begin"
    with store.driver.session() as session:
        assert hasattr(session, name), gone("cobalance/graph/console/run.py", name)
        with getattr(session, name), session.begin_transaction() as transaction:
            result = transaction.run("RETURN 1 AS x")
            assert result.single(strict=True)["x"] == 1


def test_a_connection_of_the_driver_has_the_functions_that_are_replaced(store: GraphStore) -> None:
    with store.driver.session() as session, session.begin_transaction() as transaction:
        connection: Any = transaction._connection
        functions = connection.hydration_handler.struct_hydration_functions
        assert {b"D", b"T", b"t", b"I", b"i", b"d"} <= functions.keys(), gone(
            "cobalance/graph/console/times.py", "hydration_handler"
        )


def test_a_worker_listens_to_queues_that_are_named_after_its_launch() -> None:
    source = inspect.getsource(import_module("dbos._queue").queue_thread)
    loop = source[source.index("while not stop_event") :]
    assert "dbos._listening_queues" in loop, gone("generation/jobs/job_queue.py", "the list")


def test_no_other_file_imports_internals_of_streamlit() -> None:
    internal = {module for file, module, _ in BORROWED if file == STREAMLIT}
    for path in (ROOT / "cobalance").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not imported & internal or path == ROOT / STREAMLIT, path


def test_their_versions_are_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(line for extra in extras for line in extra)]
    for requirement in map(Requirement, declared):
        if requirement.name in BOUND:
            assert any(one.operator == "<" for one in requirement.specifier), requirement
