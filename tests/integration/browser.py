"""A real browser for pages: the system's Chromium, driven by Playwright; all that pages do is noted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def executable() -> str:
    """Return the browser's path; skip where there is none, but fail where everything must be there."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        reason = f"no browser: none of {', '.join(NAMES)} is installed"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@dataclass
class Visit:
    """A page that was opened, and what it did meanwhile."""

    page: Any
    address: str
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def did_nothing(self) -> None:
        """Check that the page loaded itself, and neither said, asked nor ran anything."""
        assert self.messages == []
        assert self.requests == [self.address]

    def ask(self, script: str) -> Any:
        return self.page.evaluate(script)


@contextmanager
def browser() -> Iterator[Any]:
    """Start a browser; it is closed at the end."""
    from playwright.sync_api import sync_playwright

    path = executable()
    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield running
        finally:
            running.close()


@contextmanager
def visit(running: Any, file: Path, *, width: int, height: int = 900) -> Iterator[Visit]:
    """Open a file in a window of its own."""
    context = running.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=1, is_mobile=width < 600
    )
    page = context.new_page()
    seen = Visit(page, file.resolve().as_uri())
    page.on("console", lambda message: seen.messages.append(message.text))
    page.on("pageerror", lambda error: seen.messages.append(str(error)))
    page.on("dialog", lambda dialog: (seen.messages.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("requestfinished", lambda request: seen.loaded.append(request.url))
    try:
        page.goto(seen.address)
        yield seen
    finally:
        context.close()
