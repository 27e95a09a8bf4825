"""Entry point of `cobalance` and `python -m cobalance.app`."""

import sys

from cobalance.app.cli.shared import collector_paused


def main() -> None:
    """Run the command line; Ctrl-C during its import ends without a traceback.

    `--version` skips that import.
    """
    try:
        if sys.argv[1:] == ["--version"]:
            from importlib.metadata import version

            sys.stdout.write(f"cobalance {version('cobalance')}\n")
            return
        with collector_paused():
            from cobalance.app.cli.main import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
