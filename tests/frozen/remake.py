"""``make freeze``: run every frozen job, write what comes of it to ``kept/``, and print what changed.

Frozen files are made again only where a difference is meant, and the changelog names each one.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from . import still
from .harness import KEPT, kept_of, read_texts, run_job, write_texts
from .jobs import JOBS


def remake(kept: Path = KEPT) -> list[str]:
    """Write the files of all jobs and return a line for each one that is new, changed or gone."""
    made = {
        f"{name}/{file}": text
        for name, job in JOBS.items()
        for file, text in kept_of(run_job(job)).items()
    }
    before = read_texts(kept)
    if kept.exists():
        shutil.rmtree(kept)
    write_texts(made, kept)
    told = []
    for name in sorted({*before, *made}):
        if before.get(name) != made.get(name):
            state = "new" if name not in before else "gone" if name not in made else "changed"
            told.append(f"{state:8}{name}")
    return told


def main() -> None:
    still.hold()
    kept = Path(sys.argv[1]) if sys.argv[1:] else KEPT
    told = remake(kept)
    size = sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    told.append(f"{len(told) or 'none'} of the frozen files changed; {size / 1000:.0f} kB in all.")
    sys.stdout.write("\n".join(told) + "\n")


if __name__ == "__main__":
    main()
