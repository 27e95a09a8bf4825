"""Where the program starts: `cobalance` and `python -m app`."""

import sys


def main() -> None:
    """Run the command line; interrupted while it is still being imported, end quietly."""
    try:
        from app.cli import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
