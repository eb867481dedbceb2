"""Every script in ``examples`` runs in an empty folder and says what it promises to say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAYS = {
    "anonymize_baskets.py": "HOLDS: 5^2-anonymity",
    "audit_a_file.py": "DOES NOT HOLD: 2^2-anonymity",
    "frames_in_and_out.py": "('hot', 4)",
    "sweep_k_and_m.py": "The strongest promise below 5 % loss",
}
LEAVES = {
    "anonymize_baskets.py": {"release", "release.private"},
    "audit_a_file.py": {"published.csv"},
    "frames_in_and_out.py": set(),
    "sweep_k_and_m.py": {"sweep.csv"},
}


def test_every_example_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", sorted(SAYS))
def test_example_runs(name: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert SAYS[name] in run.stdout
    assert {path.name for path in tmp_path.iterdir()} == LEAVES[name]
