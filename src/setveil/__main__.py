"""``python -m setveil`` and the command ``setveil``: the command line, loaded with care.

Loading takes a moment. Whoever stops it then gets the exit code of an interrupt and no traceback; where
memory does not suffice for it, the exit code of a limit.
"""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

from .errors import is_out_of_memory, out_of_memory, refuse_too_little_memory

GARBAGE_AFTER = 50_000
"""Python looks for garbage in cycles after so many new objects, instead of after 700. Nearly all that a
command loads stays, and to look through it again and again is a tenth of a short run."""


def main() -> NoReturn:
    """Load the command line and run it."""
    gc.set_threshold(GARBAGE_AFTER)
    try:
        refuse_too_little_memory()
        from .cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)
    except (MemoryError, ImportError, OSError, RuntimeError, SystemError) as error:
        if not is_out_of_memory(error):
            raise
        known = out_of_memory()
        sys.stderr.write(known.text() + "\n")
        sys.exit(known.exit_code)


if __name__ == "__main__":
    main()
