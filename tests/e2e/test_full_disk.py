"""What a full disk does: to a file system of one's own, by root or in a user namespace."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMESPACES = (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"])


def may_mount(namespace: list[str], folder: Path) -> bool:
    mount = [*namespace, "mount", "-t", "tmpfs", "tmpfs", str(folder)]
    try:
        return subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_on_a_full_disk(tmp_path: Path) -> None:
    namespace = next((one for one in NAMESPACES if may_mount(one, tmp_path)), None)
    if namespace is None:
        pytest.skip("neither root nor a user namespace may mount a file system here")
    here = Path(__file__).parent
    run = [*namespace, sys.executable, "-m", "pytest", "--quiet", "--basetemp", tmp_path / "in"]
    done = subprocess.run(
        [*run, here / "full_disk.py", here / "full_folders.py"],
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        cwd=here.parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
