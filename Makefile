# make demo    shows np2fx at work on a small pipeline repo (fixtures/pipeline)
# make test    everything that must hold: lint, types, tests
# Both need Python 3.11 or newer and nothing else (constraints.txt pins the versions); what they install goes to .venv/.

PYTHON ?= python3
PYTEST_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
TYPED := build/typed

export OMP_NUM_THREADS ?= 1

.PHONY: demo test lint types pytest clean

demo: $(VENV)/.installed-torch
	PATH="$(CURDIR)/$(BIN):$$PATH" bash fixtures/demo.sh

test: lint types pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check --output-format concise .

# The two trees are one package only when installed; mypy is shown them through links in that shape.
types: $(VENV)/.installed-dev
	rm -rf $(TYPED)
	mkdir -p $(TYPED)/np2fx
	ln -s $(CURDIR)/transpiler/* $(CURDIR)/rules $(TYPED)/np2fx/
	cd $(TYPED) && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache -p np2fx

pytest: $(VENV)/.installed-dev
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-torch: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e ".[torch,pipeline]"
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed-torch
	$(PIP) -e ".[torch,dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
