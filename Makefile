# Everything sets itself up: only Python 3.11+ and make are needed.
PYTHON ?= python3
VENV ?= .venv
DEMO ?= demo
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TEST_STAMP := $(VENV)/.installed-for-tests
DOCS_STAMP := $(VENV)/.installed-for-docs
UV := UV_SYSTEM_CERTS=1 $(BIN)/uv
PYTEST := $(BIN)/python -m pytest
QUICK := -m "not server and not postgres and not engine and not live and not browser"
DRAWN := --hypothesis-profile=soak
LOWEST := .venv-lowest
SITE := sphinx --fail-on-warning --keep-going --fresh-env -q -c docs -d build/doctrees . build/docs

.PHONY: help install install-tests demo test soak quick lowest package lint format check count
.PHONY: docs pictures clean

help:
	@echo "make demo   from nothing to a report on the starter items, no key needed"
	@echo "make test   the whole test suite        make quick  its part without servers"
	@echo "make soak   kills at random moments, of runs (50) and of pages (100, 20 on PostgreSQL), a minute without a"
	@echo "            database, ten thousand steps of assigning pairs, how fast pages come, and the"
	@echo "            properties with other examples than make test draws"
	@echo "make lint   format, lint, types, imports, and what there is to read, within budgets.toml"
	@echo "make check  lint and test                 make count  what there is to read, by folder"
	@echo "make lowest   make quick with the oldest versions that pyproject.toml allows"
	@echo "make package  sdist and wheel into dist/, and make quick in the unpacked sdist"
	@echo "make docs   the documentation as a site in build/docs; a broken link fails"
	@echo "Another Python: make test PYTHON=python3.13 VENV=.venv-3.13"

install: $(STAMP)

install-tests: $(TEST_STAMP)

# $(call bring,WHAT): uv installs it into $(VENV), or pip where there is no uv.
define bring
	@if [ -x $(BIN)/uv ] && $(UV) pip install --compile-bytecode --python $(BIN)/python -c constraints.txt -e '$(1)'; then :; \
	else \
	  echo "uv cannot install here: using pip, which is slower"; \
	  $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '$(1)'; \
	fi
endef

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || { echo "Making $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv $(VENV); }
	@echo "Installing hearteval into $(VENV); the first time takes a minute"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv 2>/dev/null || true
	$(call bring,.)
	@touch $@

$(TEST_STAMP): $(STAMP)
	@echo "Installing what the tests need too; the first time takes some minutes"
	$(call bring,.[test])
	@touch $@

$(DOCS_STAMP): $(STAMP)
	$(call bring,.[docs])
	@touch $@

# The first page is the README, which a server of files looks for under another name.
docs: $(DOCS_STAMP)
	@rm -rf build/docs
	$(BIN)/python -m $(SITE)
	@cp build/docs/README.html build/docs/index.html
	@echo "site  build/docs/index.html"

demo: install
	@test -f $(DEMO)/$(notdir $(DEMO)).toml || $(BIN)/heart init $(DEMO) >/dev/null
	@$(BIN)/heart run $(DEMO)/$(notdir $(DEMO)).toml

# Three workers on two cores: many tests wait, for servers, browsers and leases.
test: install-tests
	$(PYTEST) -n 3 --dist loadfile --no-loadscope-reorder

soak: install-tests
	HEART_TEST_KILLS=50 HEART_TEST_OUTAGE_SECONDS=60 $(PYTEST) tests/end_to_end
	HEART_TEST_STEPS=10000 $(PYTEST) $(DRAWN) tests/store/people tests/web/test_blinding.py
	$(PYTEST) $(QUICK) $(DRAWN)

quick: install-tests
	$(PYTEST) $(QUICK)

# Lower bounds that nothing installs are claims: a test in this environment compares them.
lowest: install
	$(UV) venv --clear --python $(BIN)/python $(LOWEST)
	$(UV) pip install --python $(LOWEST)/bin/python --resolution lowest-direct -e '.[docs,test]'
	$(LOWEST)/bin/python -m pytest -n 2 --dist loadfile $(QUICK)
	$(LOWEST)/bin/python -m $(SITE)

# The wheel made from the sdist is the one made from the tree, and the sdist's own tests pass.
package: install
	rm -rf dist
	$(UV) build --quiet --out-dir dist
	$(UV) build --quiet --wheel --out-dir dist/tree
	cmp dist/*.whl dist/tree/*.whl
	tar -xzf dist/*.tar.gz -C dist
	$(MAKE) -C dist/hearteval-*/ quick VENV=.venv PYTHON=$(abspath $(BIN))/python

lint: install-tests
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python benchmarks/count.py --quiet

format: install-tests
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

check: lint test

# The README's pictures, from the demo's own report; needs Debian's chromium.
pictures: demo
	@for scheme in light dark; do \
	  flag=$$([ $$scheme = dark ] && echo --force-dark-mode || true); \
	  chromium --headless --no-sandbox --disable-gpu --disable-background-networking $$flag \
	    --hide-scrollbars --user-data-dir=$$(mktemp -d) --window-size=1280,660 \
	    --screenshot=docs/pictures/report-$$scheme.png \
	    "file://$(abspath $(DEMO))/$(notdir $(DEMO)).report.html" >/dev/null 2>&1; \
	done; ls -l docs/pictures

count: install-tests
	$(BIN)/python benchmarks/count.py

clean:
	rm -rf $(VENV) $(LOWEST) demo dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
