# `make demo` and `make test` set up all they need in .venv; they need Python 3.11 or newer, no more.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo app test check bench docs lock clean

demo: $(VENV)/core
	$(BIN)/cobalance demo

app: $(VENV)/app
	$(BIN)/cobalance app --demo

test: $(VENV)/dev check

check:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

bench: $(VENV)/bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/dev
	$(BIN)/python -m docs.generate

# The pinned versions: with hashes, and without the address of any index.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate pyproject.toml
lock: $(VENV)/dev
	$(LOCK) --upgrade --extra app --extra dev --extra bench -o requirements/bench.txt
	$(LOCK) -c requirements/bench.txt --extra app --extra dev -o requirements/dev.txt
	$(LOCK) -c requirements/bench.txt --extra app -o requirements/app.txt
	$(LOCK) -c requirements/bench.txt -o requirements/core.txt

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "cobalance needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/core $(VENV)/app $(VENV)/dev $(VENV)/bench: $(VENV)/%: requirements/%.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --require-hashes -r $<
	$(BIN)/python -m pip install --quiet --no-deps -e .
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
