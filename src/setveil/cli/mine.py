"""``setveil mine``: to come."""

from __future__ import annotations

import typer

app = typer.Typer(help="Find patterns in data.", no_args_is_help=True)
