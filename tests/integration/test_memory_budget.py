"""lra and vpa finish, and audit, in an address space that the count-tree of aa outgrows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RECORDS = 60_000
MEGABYTES = 220
"""Room for the work itself, on top of what the imported and compiled code takes."""

PROGRAM = """
import json, resource, sys
from setveil.api import anonymize, audit
from benchmarks.pos_shape import pos_shape
from setveil.hierarchy.build import balanced
from setveil.model.guarantees import KmAnonymity

records, megabytes, method = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
options = json.loads(sys.argv[4])
promise = KmAnonymity(k=5, m=3)
small = pos_shape(n=2_000, items=200)
tree = balanced(small.vocabulary.labels, 5)
for warm in ("aa", "lra", "vpa"):
    audit(anonymize(small, promise, hierarchy=tree, method=warm))
data = pos_shape(n=records)
tree = balanced(data.vocabulary.labels, 5)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
taken = int(status["VmSize"].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (taken + megabytes * 2**20,) * 2)
try:
    release = anonymize(data, promise, hierarchy=tree, method=method, **options)
except MemoryError:
    print(json.dumps({"outgrown": True}))
else:
    print(json.dumps({"outgrown": False, "holds": audit(release).holds}))
"""


def run(method: str, options: dict[str, object]) -> dict[str, bool]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(RECORDS), str(MEGABYTES), method, json.dumps(options)],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, bool] = json.loads(done.stdout)
    return result


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is a limit of Linux")
def test_the_count_tree_outgrows_the_limit() -> None:
    assert run("aa", {"path": "reference"})["outgrown"]


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is a limit of Linux")
@pytest.mark.parametrize("method", ["lra", "vpa"])
def test_parts_stay_within_it(method: str) -> None:
    assert run(method, {"memory": 100 * 2**20}) == {"outgrown": False, "holds": True}
