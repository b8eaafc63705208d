# Everything a person or a machine does here, from a fresh clone on. `make` alone lists it.
#
# PYTHON       the Python to build .venv with (default: the first of $(PYTHONS) that is 3.11 or newer)
# PYTEST_ARGS  passed on to pytest, for example: make test PYTEST_ARGS="-k log -x"
# BENCH_ARGS   passed on to the benchmarks
# APPS_ARGS    passed on to the applications, for example: make apps APPS_ARGS="wagtail --runs 1"

PYTHON ?=
PYTHONS := python3.13 python3.12 python3.11 python3
VENV := .venv
RUN := $(VENV)/bin/python
FAST := not browser and not slow
# Where the environment forbids it, every process compiles every module anew: half of a test run.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup venv demo test check bench soak apps fmt clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

setup: venv ## .venv with everything in it, and a Chromium (other targets do this by themselves)
	@$(RUN) -m pipeline.chromium >/dev/null

demo: setup ## the bundled site, start to finish
	@$(VENV)/bin/rutter demo

test: setup ## all tests: the fast ones, then those with a browser or a crash
	@$(RUN) -m tests.xvfb
	@$(RUN) -m tests.suite $(PYTEST_ARGS)

check: venv ## format, lint, types, import layers, fast tests (no browser needed)
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy --strict events actors replay pipeline tests bench
	$(VENV)/bin/lint-imports --no-logo
	$(RUN) -m pytest -q -n auto --dist worksteal -m "$(FAST)" $(PYTEST_ARGS)

bench: setup ## measure, each figure as a ratio to its limit
	@$(RUN) -m bench $(BENCH_ARGS)

soak: setup ## crashes, power cuts and properties with their full counts, and whole voyages (long)
	@RUTTER_SOAK=1 $(RUN) -m pytest -m "soak or slow or extended or hypothesis" $(PYTEST_ARGS)

apps: setup ## flows in applications that nobody here wrote, judged in their own stores (hours)
	@$(RUN) -m tests.xvfb
	@$(RUN) -m tests.apps --tool rutter --tool puppeteer --tool playwright --by script --by hand --both --table $(APPS_ARGS)

fmt: venv ## format, and fix what the linter can fix
	$(RUN) -m ruff format .
	$(RUN) -m ruff check --fix .

clean: ## remove .venv, caches and build results; data directories stay
	rm -rf $(VENV) build dist *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp holds this directory (a moved .venv still points at its old place) and the checksums of
# what was installed. Same stamp: nothing to do. Same directory: install. Else: build it anew.
# Each Python is asked for its version, because a pyenv shim is there for versions that are not.
ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
VERSION := import sys; print("%d.%d.%d" % sys.version_info[:3])

venv:
	@set -e; \
	stop() { echo "$$1" >&2; exit 1; }; \
	version() { "$$1" -c '$(VERSION)' 2>/dev/null; }; \
	here=$$(pwd -P); \
	wanted=$$(echo "$$here"; cksum pyproject.toml constraints.txt); \
	stamp=$$(cat $(VENV)/stamp 2>/dev/null || true); \
	usable=$$(version $(RUN) || true); \
	if [ -n "$(PYTHON)" ] && [ "$$usable" != "$$(version "$(PYTHON)")" ]; then usable=; fi; \
	if [ -n "$$usable" ] && [ "$$stamp" = "$$wanted" ]; then exit 0; fi; \
	if [ -z "$$usable" ] || [ "$$(echo "$$stamp" | head -n 1)" != "$$here" ]; then \
		python=; \
		for name in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do \
			if "$$name" -c '$(ENOUGH)' >/dev/null 2>&1; then python=$$name; break; fi; \
		done; \
		[ -n "$$python" ] || stop "no Python 3.11 or newer (tried: $(or $(PYTHON),$(PYTHONS))); install one, or name it: make setup PYTHON=/path/to/python3"; \
		echo "setting up $(VENV) with Python $$(version "$$python") (about a minute)"; \
		rm -rf $(VENV); \
		said=$$("$$python" -m venv $(VENV) 2>&1) || { \
			"$$python" -c 'import ensurepip' 2>/dev/null && stop "$$said"; \
			package=python$$(version "$$python" | cut -d . -f 1,2)-venv; \
			fix="apt-get install $$package"; \
			[ "$$(id -u)" = 0 ] || stop "this Python cannot make a virtual environment; on Debian or Ubuntu type: sudo $$fix"; \
			command -v apt-get >/dev/null || stop "$$said"; \
			echo "this Python cannot make a virtual environment yet: $$fix"; \
			export DEBIAN_FRONTEND=noninteractive; \
			said=$$(apt-get update -q 2>&1 || true; apt-get install -y -q --no-install-recommends $$package 2>&1) || stop "$$said"; \
			rm -rf $(VENV); \
			said=$$("$$python" -m venv $(VENV) 2>&1) || stop "$$said"; \
		}; \
	else \
		echo "bringing $(VENV) up to date"; \
	fi; \
	$(RUN) -m pip install -qq --disable-pip-version-check -e '.[dev]' -c constraints.txt \
		|| stop "pip could not install the packages of pyproject.toml (reason above); when that is fixed: make setup"; \
	echo "$$wanted" > $(VENV)/stamp
