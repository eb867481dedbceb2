"""``python -m setveil`` and the command ``setveil``: the command line, loaded with care.

Loading takes a moment. Whoever stops it then gets the exit code of an interrupt and no traceback.
"""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

GARBAGE_AFTER = 50_000
"""Python looks for garbage in cycles after so many new objects, instead of after 700. Nearly all that a
command loads stays, and to look through it again and again is a tenth of a short run."""


def main() -> NoReturn:
    """Load the command line and run it."""
    gc.set_threshold(GARBAGE_AFTER)
    try:
        from .cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
