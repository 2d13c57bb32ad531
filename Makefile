.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help install install-dev up test test-all test-http mutants check licenses sbom audit release soak kill-loop bench docs lock messages clean

help:  ## Show these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(VENV)/.runtime: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "fateforger needs Python 3.11 or newer; try: make PYTHON=python3.11 up"; exit 1; }
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV); this takes a minute, once."
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

$(VENV)/.docs: requirements-docs.lock $(VENV)/.runtime
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-docs.lock
	@touch $@

install: $(VENV)/.runtime  ## Install what the program needs into .venv
install-dev: $(VENV)/.dev  ## Install what tests and checks need as well

up: install  ## Start everything on embedded defaults and print the page's address
	@$(BIN)/fateforger up

check: install-dev licenses sbom  ## Lint, types, import contracts, licenses, bill of materials
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

licenses: install-dev  ## Check the licenses of all packages that are installed with the program
	$(BIN)/python scripts/check_licenses.py

SBOM := dist/fateforger.cdx.json

sbom: $(SBOM)  ## Write the bill of materials (CycloneDX) of requirements.lock to dist/
$(SBOM): requirements.lock pyproject.toml $(VENV)/.dev
	@mkdir -p dist
	$(BIN)/python -W ignore::UserWarning -m cyclonedx_py requirements $< --pyproject pyproject.toml --output-reproducible --output-file $@

PIP_AUDIT := pip-audit==2.10.1

audit:  ## Ask PyPI and npm for known vulnerabilities of the pinned packages (needs a network)
	@test -d build/audit || $(PYTHON) -m venv build/audit
	@build/audit/bin/pip install --quiet --disable-pip-version-check $(PIP_AUDIT)
	build/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.lock -r requirements-dev.lock -r requirements-docs.lock
	npm audit --prefix docker/google-calendar-mcp --package-lock-only

release: install-dev  ## Build the files of a release in dist/: wheel, source, bill of materials, hashes (docs/releasing.md)
	@rm -rf dist
	$(BIN)/python -m hatchling build
	@$(MAKE) --no-print-directory sbom
	cd dist && sha256sum * > SHA256SUMS

# Compiled modules are kept even where the environment asks for none: each worker and program would compile them again.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

test: check  ## All checks and the tests of every change, in a few minutes
	$(PYTEST) -m "not extra" $(addprefix --ignore=tests/,caldav_mcp localslack mutants soak)

test-all: install-dev  ## The other tests, which take long: stand-ins, seeded bugs, campaigns, PostgreSQL
	$(PYTEST) -m extra

test-http: install-dev  ## The scenarios of a conversation in Slack once more, over HTTP
	SCENARIO_SLACK_MODE=http $(PYTEST) --dist load tests/scenarios/test_slack_room.py

mutants: install-dev  ## Seed bugs and take away fixes; the tests have to notice each (part of test-all)
	$(BIN)/pytest tests/mutants

HISTORIES ?= 10000
GOOGLE_HISTORIES ?= 2000
MICROSOFT_HISTORIES ?= 1000
CALDAV_HISTORIES ?= 300
TERMINALS ?= 60
CHAOS_DAYS ?= 30
SEED ?= 1

soak: install-dev  ## Random histories with edits by hand, and of command lines (HISTORIES=10000 GOOGLE_HISTORIES=2000 MICROSOFT_HISTORIES=1000 CALDAV_HISTORIES=300 TERMINALS=60 CHAOS_DAYS=30 SEED=1)
	$(BIN)/python -m tests.soak --histories $(HISTORIES) --seed $(SEED)
	$(BIN)/python -m tests.soak --histories $(GOOGLE_HISTORIES) --seed $(SEED) --calendar google
	$(BIN)/python -m tests.soak --histories $(MICROSOFT_HISTORIES) --seed $(SEED) --calendar microsoft
	$(BIN)/python -m tests.soak --histories $(CALDAV_HISTORIES) --seed $(SEED) --calendar caldav
	$(BIN)/python -m tests.soak --terminals $(TERMINALS) --seed $(SEED)
	$(BIN)/python -m tests.soak --chaos $(CHAOS_DAYS) --seed $(SEED)

KILLS ?= 100

kill-loop: install-dev  ## kill -9 of the real program while it writes, on SQLite and PostgreSQL (KILLS=100)
	$(BIN)/python -m tests.soak --kills $(KILLS) --seed $(SEED)
	CONSTRAINT_KILLS=$(KILLS) $(BIN)/python -m pytest -q tests/unit/adapters/store/test_constraint_processes.py
	TASK_PULLERS=50 TASK_COUNT=500 TASK_KILLS=$(KILLS) SEED=$(SEED) $(BIN)/python -m pytest -q tests/unit/adapters/store/test_task_processes.py

bench: install-dev  ## Measure speed, as ratios against peers in the same run
	$(BIN)/python -m benchmarks

PAGES := build/pages

docs: $(VENV)/.docs  ## Build the documentation site in build/site; a broken link fails
	@rm -rf build && mkdir -p $(PAGES)
	@cp -R *.md LICENSE .env.example docker-compose.yml docs notebooks deploy $(PAGES)
	$(BIN)/mkdocs build --strict
	@echo "Open build/site/index.html"

lock:  ## Compile the lock files anew (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra build --extra pgvector --extra traces pyproject.toml -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra build --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --group docs -c requirements-dev.lock -o requirements-docs.lock

messages: install-dev  ## Extract the texts that people read into every translation; TO=it begins one
	$(BIN)/pybabel -q extract -F pyproject.toml -k mark_message -k CardAction:2 --omit-header --add-location=file --sort-by-file -o src/fateforger/locales/fateforger.pot src/fateforger
	$(if $(TO),$(BIN)/pybabel -q init -D fateforger -d src/fateforger/locales -i src/fateforger/locales/fateforger.pot -l $(TO))
	$(BIN)/pybabel -q update -D fateforger -d src/fateforger/locales -i src/fateforger/locales/fateforger.pot --no-fuzzy-matching --ignore-obsolete

clean:  ## Remove the virtual environment and caches (never your data)
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
