"""The audit on its own: ``python -m setveil.audit FOLDER``, without the methods and the main command.

Leaves with 0 if the promise holds, 1 if it does not, 2 for wrong options, 3 for bad data, 5 for the
file system, 6 for too much work.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from ..errors import SetveilError
from .check import MODES, audit_folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit the folder named on the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m setveil.audit",
        description="Recount a release folder and say whether its promise holds.",
    )
    parser.add_argument("folder", help="the release folder")
    parser.add_argument("--json", action="store_true", help="answer as JSON")
    parser.add_argument(
        "--witnesses",
        type=int,
        default=0,
        metavar="N",
        help="show N violations; they may point at single persons",
    )
    parser.add_argument("--mode", choices=MODES, default="exact", help="the reading of support")
    options = parser.parse_args(arguments)
    try:
        verdict = audit_folder(options.folder, mode=options.mode, witnesses=options.witnesses)
    except SetveilError as error:
        if options.json:
            problems = [problem.as_dict() for problem in error.problems]
            sys.stdout.write(json.dumps({"errors": problems}, indent=2) + "\n")
        else:
            sys.stderr.write(error.text() + "\n")
        return error.exit_code
    except MemoryError:
        sys.stderr.write("error[memory]: not enough memory for this audit.\n")
        return 6
    if options.json:
        sys.stdout.write(json.dumps(verdict.as_dict(), indent=2) + "\n")
    else:
        sys.stdout.write(f"{verdict}\n")
    return 0 if verdict.holds else 1


if __name__ == "__main__":
    raise SystemExit(main())
