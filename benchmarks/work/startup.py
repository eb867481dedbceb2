"""How long until something happens: the command's help, the import, reading a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ..context import Context
from ..data import Source, data_file
from ..report import Report, Table, at_most
from ..worker import command_times, timed

HELP_SECONDS, READ_SECONDS = 0.3, 1.5


def run(context: Context) -> Report:
    """Measure the start of the command and of the package, and the reading of retail."""
    import setveil as sv

    runs = 1 if context.quick else 9
    commands = (["-c", "pass"], ["-c", "import setveil"], ["-m", "setveil", "--help"])
    bare, imported, helped = (command_times(line, runs=runs)["seconds"] for line in commands)
    with tempfile.TemporaryDirectory() as folder:
        if context.quick:
            path = Path(folder) / "small.dat"
            rows = Source("small", 50).load()[0].rows()
            path.write_text("".join(f"{len(row)} {len(row) + 1}\n" for row in rows))
        else:
            path = data_file("retail.dat.gz")
        data, reading = timed(lambda: sv.read_transactions(str(path)), runs=1 if context.quick else 5)
    rows = (
        ("python -c pass", bare),
        ("import setveil", imported),
        ("setveil --help", helped),
        (f"read retail.dat.gz, {len(data):,} records", reading["seconds"]),
    )
    quick = context.quick
    return Report(
        "startup",
        "Starting and reading, wall seconds, medians",
        (Table(("what", "seconds"), rows),),
        (
            at_most("setveil --help", helped, HELP_SECONDS, quick=quick),
            at_most("reading retail.dat.gz", reading["seconds"], READ_SECONDS, quick=quick),
        ),
        ("the command and the import are fresh processes, Python's own start included.",),
        quick,
    )
