"""The audit on its own: ``python -m setveil.audit FOLDER``, without the methods and the main command.

Leaves with 0 if the promise holds, 1 if it does not, 2 for wrong options, 3 for bad data, 5 for the
file system or a verdict that cannot be printed, 6 for too much work, 130 if interrupted, 141 if the
reader of the output has gone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from ..errors import (
    FileSystemError,
    SetveilError,
    is_out_of_memory,
    out_of_memory,
    refuse_too_little_memory,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit the folder named on the command line; return the exit code."""
    try:
        refuse_too_little_memory()
        from .check import MODES, audit_folder
    except (MemoryError, ImportError, OSError, RuntimeError, SystemError) as error:
        if not is_out_of_memory(error):
            raise
        with contextlib.suppress(FileSystemError, BrokenPipeError):
            _print(out_of_memory().text(), sys.stderr)
        return out_of_memory().exit_code
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
        plain = json.dumps(verdict.as_dict(), indent=2) if options.json else str(verdict)
        _print(plain, sys.stdout)
        return 0 if verdict.holds else 1
    except SetveilError as error:
        known = error
    except (MemoryError, ImportError, OSError, RuntimeError, SystemError) as error:
        if not is_out_of_memory(error):
            raise
        known = out_of_memory()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _silence(sys.stdout)
        return 141
    with contextlib.suppress(FileSystemError, BrokenPipeError):
        _print(known.text(), sys.stderr)
    if options.json:
        problems = [problem.as_dict() for problem in known.problems]
        told = {"error": {"exit_code": known.exit_code, "problems": problems}}
        with contextlib.suppress(FileSystemError, BrokenPipeError):
            _print(json.dumps(told, indent=2), sys.stdout)
    return known.exit_code


def _print(text: str, stream: TextIO | None) -> None:
    """Print a line; `FileSystemError` where the stream is closed or full, not "the audit says no"."""
    reason = "it is closed"
    if stream is not None:
        encoding = stream.encoding or "utf-8"
        try:
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
            stream.flush()
            return
        except BrokenPipeError:
            raise
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or reason
        _silence(stream)
    raise FileSystemError(
        f"the verdict could not be printed: {reason}.",
        "Send the output to a place that takes it.",
        code="output",
    )


def _silence(stream: TextIO | None) -> None:
    """Send what a stream still holds nowhere, so that no second error follows at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)


if __name__ == "__main__":
    raise SystemExit(main())
