# Everything a person or a machine does here, from a fresh clone on. `make` alone lists it.
#
# PYTHON       the Python to build .venv with (default: the newest of 3.11 and later that is there)
# PYTEST_ARGS  passed on to pytest, for example: make test PYTEST_ARGS="-k log -x"
# BENCH_ARGS   passed on to the benchmarks, for example: make bench BENCH_ARGS="flow append"
# REV, ROUNDS  of bench-compare: beside which commit (the one before), how often each in turns (3)
# APPS_ARGS    passed on to the applications, for example: make apps APPS_ARGS="wagtail --runs 1"

PYTHON ?=
REV ?=
ROUNDS ?= 3
VENV := .venv
RUN := $(VENV)/bin/python
FAST := not browser and not slow
# Where the environment forbids it, every process compiles every module anew: half of a test run.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup venv demo test check check-types check-tests bench bench-compare soak apps fmt clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: venv ## .venv with everything in it, and a Chromium (other targets do this by themselves)
	@$(RUN) -m rutter.pipeline.config.chromium_install >/dev/null

demo: setup ## the bundled site, start to finish
	@$(VENV)/bin/rutter demo

test: setup ## all tests: the fast ones, then those with a browser or a crash
	@$(RUN) -m tests.support.xvfb
	@$(RUN) -m tests.support.tesseract
	@$(RUN) -m tests.support.certificate_tool
	@$(RUN) -m tests.support.suite $(PYTEST_ARGS)

check: venv ## format, lint, types, import layers, fast tests (no browser needed)
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	@$(MAKE) --no-print-directory -j 2 check-types check-tests

check-types: venv
	$(RUN) -m mypy --strict rutter tests bench
	$(VENV)/bin/lint-imports --no-logo

check-tests: venv
	$(RUN) -m pytest -q -n auto --dist worksteal -m "$(FAST)" $(PYTEST_ARGS)

bench: setup ## measure, each figure as a ratio to its limit
	@$(RUN) -m bench $(BENCH_ARGS)

bench-compare: setup ## this tree and another commit in turns: the ratios that moved, with their spread
	@$(RUN) -m bench.compare --rev "$(REV)" --rounds $(ROUNDS) $(BENCH_ARGS)

soak: setup ## crashes, power cuts and properties with their full counts, and whole voyages (long)
	@$(RUN) -m tests.support.tesseract
	@RUTTER_SOAK=1 $(RUN) -m pytest -m "soak or slow or extended or hypothesis" $(PYTEST_ARGS)

apps: setup ## flows in applications that nobody here wrote, judged in their own stores (hours)
	@$(RUN) -m tests.support.xvfb
	@$(RUN) -m tests.apps --tool rutter --tool puppeteer --tool playwright --by script --by hand --both --table $(APPS_ARGS)

fmt: venv ## format, and fix what the linter can fix
	$(RUN) -m ruff format .
	$(RUN) -m ruff check --fix .

clean: ## remove .venv, caches and build results; data directories stay
	rm -rf $(VENV) build dist *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

venv:
	@.ci/venv $(PYTHON)
