"""Logs of commands and of workers."""

from tests.app.cli.calling import spawn
from tests.app.cli.conftest import ORDER, SMALL


def test_a_log_file_holds_what_the_terminal_does_not(environment, store, tmp_path):
    quiet = spawn(environment, "mine", "nowhere")
    assert quiet.stderr.startswith("Error: There is no dataset 'nowhere'.")
    file = tmp_path / "cobalance.log"
    logged = spawn(environment, "--log-file", file, "mine", "nowhere")
    assert (logged.returncode, logged.stdout, logged.stderr) == (1, "", quiet.stderr)
    (failed,) = file.read_text().splitlines()
    assert " INFO cobalance.app.cli.main: mine failed: NotFoundError: There is no" in failed
    told = spawn(environment | {"COBALANCE_LOG": "Debug"}, "mine", "nowhere").stderr
    assert "mine failed: NotFoundError: " in told
    wrong = spawn(environment, "--log-file", tmp_path / "no" / "folder", "mine", "nowhere")
    assert wrong.returncode == 2
    assert "cannot be written: No such file or directory" in wrong.stderr


def test_a_worker_logs_its_chunks(environment, run, planned, tmp_path):
    run(*ORDER, planned, *SMALL)
    file = tmp_path / "worker.log"
    done = spawn(environment | {"COBALANCE_LOG_FILE": str(file)}, "work", "--until-idle")
    assert done.returncode == 0, done.stderr
    assert "ChunkExecutor.execute begins: " in (log := file.read_text())
    assert ": result='done'" in log
    assert "INFO" not in done.stderr
