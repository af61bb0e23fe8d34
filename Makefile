# make run    set everything up and start the service
# make test   run all tests, on SQLite and on MariaDB
# make demo   watch a killed crawl go on at its next page
# make coverage  which lines the tests reach, on SQLite
# make check  style, types, import rules
# make soak   random days of a source against a model, STEPS=… of them, on DATABASE=sqlite or mariadb
# make chaos  MINUTES=… of kills, cuts and clock steps under real spiders, then an audit
# make bench  how fast it is against yardsticks of the same run; FULL=1 as published (needs wrk and MariaDB)
# make lock   pin the dependencies of pyproject.toml anew (needs uv)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# More processes than cores: many tests wait for a process or a clock.
PYTEST := -m pytest -q -n 3 --dist worksteal

DATABASE ?= mariadb
MINUTES ?= 5
STEPS ?= 20000

.PHONY: run test coverage demo check soak chaos bench lock clean

run: $(VENV)/runtime
	@$(BIN)/python -m app

test: $(VENV)/dev
	$(BIN)/python $(PYTEST) --database=sqlite
	$(BIN)/python $(PYTEST) --database=mariadb tests/service tests/processes tests/end_to_end tests/stateful tests/chaos \
	  tests/concurrency tests/fuzzing

# Not part of `make test`: CPython 3.11 may spin for ever when a traced function begins within a pending call, as the
# browser's greenlets make them.
coverage: $(VENV)/dev
	$(BIN)/coverage erase
	$(BIN)/coverage run $(PYTEST) --database=sqlite
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

demo: $(VENV)/dev
	@$(BIN)/python -m tests.demo

check: $(VENV)/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: $(VENV)/dev
	SOAK_STEPS=$(STEPS) $(BIN)/python -m pytest -q -s --database=$(DATABASE) tests/stateful

chaos: $(VENV)/dev
	@$(BIN)/python -m tests.chaos --minutes $(MINUTES) --database $(DATABASE)

bench: $(VENV)/dev
	@$(BIN)/python -m benchmarks $(if $(FULL),--full)

lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-annotate --no-header -q --extra server --extra spider -o requirements/runtime.lock
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-annotate --no-header -q --all-extras -c requirements/runtime.lock -o requirements/dev.lock

clean:
	rm -rf $(VENV) .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

$(VENV)/runtime $(VENV)/dev: $(VENV)/%: requirements/%.lock | $(VENV)/made
	@echo "Installing what requirements/$*.lock lists ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/$*.lock
	@touch $@

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "python3 -m venv does not work here (on Debian and Ubuntu: apt install python3-venv)"; exit 1; }
	@touch $@
