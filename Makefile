# Everything sets itself up: only Python 3.11+ and make are needed.
PYTHON ?= python3
DEMO ?= demo
BIN := .venv/bin
STAMP := .venv/.installed
UV := UV_SYSTEM_CERTS=1 $(BIN)/uv
PYTEST := $(BIN)/python -m pytest

.PHONY: help install demo test soak quick lint format check count clean

help:
	@echo "make demo   from nothing to a report on the starter items, no key needed"
	@echo "make test   the whole test suite        make quick  its part without servers"
	@echo "make soak   fifty kills at random moments, and half a minute without a database"
	@echo "make lint   format, lint, types, imports  make check  lint and test"

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv 2>/dev/null || true
	@if [ -x $(BIN)/uv ] && \
	  $(UV) pip install --quiet --compile-bytecode --python $(BIN)/python -c constraints.txt -e '.[test]'; then :; \
	else \
	  echo "uv cannot install here: using pip, which is slower"; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'; \
	fi
	@touch $@

demo: install
	@test -f $(DEMO)/$(notdir $(DEMO)).toml || $(BIN)/heart init $(DEMO) >/dev/null
	$(BIN)/heart run $(DEMO)/$(notdir $(DEMO)).toml

test: install
	$(PYTEST) -n 2 --dist loadgroup

soak: install
	HEART_TEST_KILLS=50 HEART_TEST_OUTAGE_SECONDS=30 $(PYTEST) tests/end_to_end

quick: install
	$(PYTEST) -m "not server and not postgres and not engine and not live"

lint: install
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

check: lint test

count: install
	$(BIN)/python benchmarks/count.py

clean:
	rm -rf .venv demo dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
