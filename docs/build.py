"""Make the parts of the documentation that follow from the code: ``python -m docs.build``.

Writes ``docs/pictures/*.svg`` and ``docs/reference/*.md``, and removes what no longer belongs there.
The bytes are the same for the same code. With ``--check`` nothing is written, and the exit code is 1
where a committed file differs; a test does the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from docs import (
    bucket_pictures,
    method_pictures,
    overview_pictures,
    pair_pictures,
    reference_pages,
    suppression_pictures,
)

HERE = Path(__file__).resolve().parent
MADE_HERE = ("pictures/*.svg", "reference/*.md")


def built() -> dict[str, str]:
    """Return every generated file: its path below ``docs`` and its text."""
    pictures = {
        **method_pictures.PICTURES,
        **suppression_pictures.PICTURES,
        **bucket_pictures.PICTURES,
        **pair_pictures.PICTURES,
        **overview_pictures.PICTURES,
    }
    files = {f"pictures/{name}.svg": draw() for name, draw in pictures.items()}
    files |= {f"reference/{name}.md": page() for name, page in reference_pages.PAGES.items()}
    return files


def differing(files: dict[str, str]) -> list[str]:
    """Return the paths whose committed text is not what was built, stale ones included."""
    there = {path.relative_to(HERE).as_posix() for kind in MADE_HERE for path in HERE.glob(kind)}
    wrong = [
        path
        for path, text in files.items()
        if path not in there or (HERE / path).read_bytes() != text.encode()
    ]
    return sorted([*wrong, *(there - set(files))])


def main(arguments: Sequence[str]) -> int:
    """Write what is missing or old, or only tell it; return the exit code."""
    files = built()
    wrong = differing(files)
    if "--check" in arguments:
        sys.stdout.writelines(f"differs: docs/{path}\n" for path in wrong)
        return 1 if wrong else 0
    for path in wrong:
        target = HERE / path
        if path in files:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(files[path].encode())
        else:
            target.unlink()
        sys.stdout.write(f"{'wrote' if path in files else 'removed'} docs/{path}\n")
    sys.stdout.write(f"{len(files)} files, {len(wrong)} changed\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
