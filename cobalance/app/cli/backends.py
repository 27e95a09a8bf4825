"""`cobalance backends`: list the models that make images, and which of them run here."""

from cobalance.app.cli.shared import TableOutput, notes
from cobalance.base import install_command, is_installed
from cobalance.workflows.work import tables as work_tables


def backends(to: TableOutput) -> None:
    """List models that make images: licence, memory, steps, and whether they run here.

    Others run, too: docs/generation.md says what a model's pipeline has to take. The backends http
    and comfyui have a server's models. Nothing is downloaded.
    """
    to.write(work_tables.list_families(), unbroken=["model"])
    if to.is_shown:
        notes.print("To take one: cobalance enqueue DATASET --backend NAME --model MODEL")
        if not is_installed("models"):
            notes.print(f"Workers need the extra models: {install_command('models')}")
        notes.print("To have a server make the images: --recipe http, or comfyui")
