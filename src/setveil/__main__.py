"""``python -m setveil`` and the command ``setveil``: the command line, loaded with care.

Loading takes a moment. Whoever stops it then gets the exit code of an interrupt and no traceback.
"""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Load the command line and run it."""
    try:
        from .cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
