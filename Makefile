# One command an intention. Every target sets up what it needs by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FLOORS := .venv-floors

.PHONY: help demo test floors lint type bench tables freeze docs clean
help:  ## show what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

$(READY): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip 2>/dev/null || true
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(READY)  ## anonymize the embedded groceries, audit the written release, show the result
	$(BIN)/setveil demo --output demo-release --force

test: $(READY)  ## run every test
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Compiled loops are kept apart: those of another numba would be overwritten. Older pyarrow looks for
# pandas by itself, where it is installed.
floors: export NUMBA_CACHE_DIR = $(CURDIR)/$(FLOORS)/numba
floors: $(FLOORS)/.ready  ## run on the oldest versions of the packages that pyproject.toml allows
	$(FLOORS)/bin/setveil demo --output $(FLOORS)/demo --force
	$(FLOORS)/bin/python -m pytest -p no:xdist -p no:cacheprovider tests/unit/io tests/unit/model \
	    tests/papers/test_liu_wang.py tests/integration/test_cli_audit.py tests/hostile/test_audit_reader.py \
	    -k "not test_no_frame_library_is_imported"

$(FLOORS)/.ready: pyproject.toml
	@rm -rf $(FLOORS)
	@$(PYTHON) -m venv $(FLOORS)
	@$(FLOORS)/bin/python -m pip install --quiet uv
	@$(FLOORS)/bin/uv pip install --quiet --python $(FLOORS)/bin/python --resolution lowest-direct --editable '.[dev]'
	@touch $@

lint: $(READY)  ## style, common mistakes and the rules of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -p no:xdist $(addprefix tests/house/test_,layers.py imports.py style.py judge.py counts.py)

type: $(READY)  ## static types, strict
	$(BIN)/mypy

bench: $(READY)  ## measure speed, memory and loss, warmed and seeded
	$(BIN)/python -m benchmarks

tables: $(READY)  ## make the tables on hiding patterns again; goes on where it was stopped
	$(BIN)/python -m benchmarks.hiding_tables

freeze: $(READY)  ## write the frozen files of tests/frozen anew; print which of them changed
	$(BIN)/python -m tests.frozen.remake

docs: $(READY)  ## rebuild the generated pages and pictures of docs/
	$(BIN)/python -m docs.build

clean:  ## remove what the other targets made
	rm -rf $(VENV) $(FLOORS) build dist demo-release demo-release.private .mypy_cache .ruff_cache .pytest_cache .hypothesis
