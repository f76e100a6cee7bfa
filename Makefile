# One command each: `make run`, `make test`. Both set everything up first; see README.md for Windows.

.DEFAULT_GOAL := help
.PHONY: help setup run test test-core check format lint types contracts bench screenshots lock clean

VENV := .venv/bin
ARGS ?=

# The first Python of the supported ones that can make an environment; an existing .venv is asked first.
FIND_PYTHON = for python in $(VENV)/python python3.11 python3.12 python3.13 python3 python; do \
	$$python -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1 \
	&& break || python=; done; \
	if [ -z "$$python" ]; then \
	echo "Python 3.11, 3.12 or 3.13 is needed. On Debian and Ubuntu: apt-get install -y python3 python3-venv" >&2; \
	exit 1; fi

help:
	@echo "make run         the program (ARGS=... is passed on)"
	@echo "make test        all tests"
	@echo "make check       format, lint, types, contracts, tests"
	@echo "make bench       speed against yardsticks of the same run"
	@echo "make screenshots pictures of the main states in both themes"
	@echo "make setup       only the environment in .venv"

setup:
	@$(FIND_PYTHON); $$python tools/setup.py && $(VENV)/python tools/system.py setup

run: setup
	@$(VENV)/python tools/system.py run
	@$(VENV)/inkfast $(ARGS)

test: setup
	@$(VENV)/python tools/system.py test
	@$(VENV)/python tools/run_tests.py

test-core: setup
	@$(VENV)/python tools/run_tests.py --core

check: lint types contracts test

lint: setup
	@$(VENV)/ruff format --check --quiet --output-format concise .
	@$(VENV)/ruff check --quiet --output-format concise .

format: setup
	@$(VENV)/ruff format --quiet .
	@$(VENV)/ruff check --fix --quiet .

types: setup
	@$(VENV)/python tools/setup.py --check
	@$(VENV)/pyright

contracts: setup
	@$(VENV)/lint-imports

bench: setup
	@$(VENV)/python -m tests.bench $(ARGS)

screenshots: setup
	@$(VENV)/python -m tests.screenshots $(ARGS)

lock:
	@$(FIND_PYTHON); $$python tools/lock.py $(ARGS)

clean:
	rm -rf .venv .venv-core build dist *.egg-info .ruff_cache .hypothesis .import_linter_cache
