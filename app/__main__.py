"""Entry point of `cobalance` and `python -m app`."""

import sys

from app.cli.collector import collector_paused


def main() -> None:
    """Run the command line; Ctrl-C during its import ends without a traceback.

    `--version` skips that import.
    """
    try:
        if sys.argv[1:] == ["--version"]:
            from app.version import print_version

            print_version()
            return
        with collector_paused():
            from app.cli.main import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
