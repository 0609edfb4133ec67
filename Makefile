# Every target sets up what it needs: system packages where allowed, then .venv. Stamp files make repeats instant.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup mutate test test-all check docs bench quality quality-real coverage sweep torches backends defects clean FORCE

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1 $(PY) -m pip install \
    --progress-bar off
# From pip's output: files of a megabyte or more that it downloads, with their sizes.
SHOW_DOWNLOADS := sed -nE 's,^ *Downloading (.*/)?([^/ ]+) (\([0-9.]+ [MG]B\)),set-up:   downloading \2 \3,p'
# make mutate ARGS="--strategy all --out /tmp/out", make test ARGS="tests/unit -k diff"
ARGS ?=
# The torch to test with, as pip writes it. Three equals signs ask for the build of PyPI (CUDA), not for one of a local
# index: make test TORCH="torch===2.13.0"
TORCH ?= $(shell head -n 1 constraints.txt)

help:
	@echo "with TORCH=\"torch===2.13.0\" each target uses another torch than $(TORCH)"
	@echo "make mutate   fuzz the compiler with the shipped seeds for ten minutes (ARGS=\"--time 2h\": with all of them)"
	@echo "make test     the test suite, on all cores"
	@echo "make test-all all tests, the longest ones included: an hour or more"
	@echo "make check    format, lint, types, layers, words, fast tests"
	@echo "make docs     the site of the documentation, in site/; a warning is an error"
	@echo "make bench    the cost of rewriting, and of a compiled program compared with other ways to run it"
	@echo "make quality  which planted compiler faults are found on the shipped seeds (up to an hour)"
	@echo "make quality-real  which real defects of the installed torch are found (half an hour; ARGS=\"--write\" keeps the table)"
	@echo "make coverage which statements of torch seeds and random programs run (ARGS=\"--time 20m\"; it resumes)"
	@echo "make sweep    a catalogue of torch, judged: CATALOGUE=opinfo (hours; ARGS=\"--time 20m\"; it resumes)"
	@echo "make torches  test releases of torch and write their table (VERSIONS=\"2.15.0 2.14.1\"; some minutes each)"
	@echo "make backends run the seeds in ONNX Runtime, OpenVINO, TVM and AOTInductor (hours; ARGS=\"--time 20m\"; it resumes)"
	@echo "make defects  run the scripts of defects found; ARGS=\"--python A --write\" measures with that Python's torch"
	@echo "make clean    remove output of runs and tests, findings included; .venv stays"

setup: $(VENV)/.ready

# Exit code 1 means findings, which is a success here. All seeds take an hour on two cores: ARGS="--time 2h".
mutate: setup
	@$(VENV)/bin/eqfuzz mutate seeds/ --time 9m $(ARGS) || { code=$$?; [ $$code -eq 1 ] || exit $$code; }

test: setup
	@OMP_NUM_THREADS=1 $(PY) -m pytest -n "$$(env -u OMP_NUM_THREADS nproc)" --dist worksteal -m "not long" \
	    --disable-warnings --durations 60 --durations-min 5 $(ARGS)

test-all: setup
	@OMP_NUM_THREADS=1 $(PY) -m pytest -n "$$(env -u OMP_NUM_THREADS nproc)" --dist worksteal $(ARGS)

check: setup
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/pyright
	@$(VENV)/bin/lint-imports
	@$(PY) -m tools.glossary
	@OMP_NUM_THREADS=1 $(PY) -m pytest -n "$$(env -u OMP_NUM_THREADS nproc)" --dist worksteal -m "not slow and not long" $(ARGS)

docs: setup
	@$(PY) -m sphinx -q -W --keep-going -c docs -d site/.trees . site
	@echo "docs:     site/index.html"

bench: setup
	@$(PY) -m benchmarks.rewriting
	@$(PY) -m benchmarks.runner $(ARGS)

# The results are in the repository, so that another machine can resume them: opinfo, modules, optimizers, numpy, python
# or refused.
CATALOGUE ?= opinfo
SWEPT = docs/measurements/sweeps/$(CATALOGUE)
SWEEP = eqfuzz-out/sweeps/$(CATALOGUE)
# Samples of each operator, or module, and dtype, and as many with other arguments: one pooling has 10,080, one loss 881.
SWEEP_OPTIONS_opinfo := --most 3
SWEEP_OPTIONS_modules := --most 30
SWEEP_OPTIONS_numpy := --most 14

sweep: setup
	@mkdir -p $(SWEEP) $(SWEPT)
	@[ -e $(SWEEP)/sweep.jsonl ] || [ ! -e $(SWEPT)/sweep.jsonl ] || cp $(SWEPT)/sweep.jsonl $(SWEEP)
	@code=0; $(VENV)/bin/eqfuzz generate $(CATALOGUE) --run --out $(SWEEP) $(SWEEP_OPTIONS_$(CATALOGUE)) $(ARGS) || \
	    code=$$?; \
	    cp $(SWEEP)/sweep.jsonl $(SWEEP)/matrix.md $(SWEPT); [ $$code -le 1 ] || exit $$code

# Each compiler has an environment of its own, so that torch's need not meet its requirements.
BACKENDS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/eqfuzz/backends

$(BACKENDS)/%/.ready:
	@echo "set-up:   $* in $(@D)"
	@$(PYTHON) -m venv $(@D)
	@PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore $(@D)/bin/python -m pip install -q --progress-bar off \
	    $(if $(filter tvm_relax,$*),apache-tvm onnx,$*) numpy
	@touch $@

backends: setup $(foreach name,onnxruntime openvino tvm_relax,$(BACKENDS)/$(name)/.ready)
	@$(PIP) -q onnx onnxscript
	@$(PY) -m tools.backends $(ARGS)

defects: setup
	@$(PY) -m tools.gallery $(ARGS)

quality: setup
	@$(PY) -m tools.fault_detection $(ARGS)

# A separate target: it has no clean run and no planted faults, and its own required share.
quality-real: setup
	@$(PY) -m tools.fault_detection.real_defects $(ARGS)

coverage: setup
	@$(PY) -m eqfuzz coverage $(ARGS)

# One release at a time, each in its own environment, which is removed after its row unless KEEP=1.
torches: setup
	@$(PY) -m tools.torch_matrix $(VERSIONS) $(if $(KEEP),--keep) $(ARGS)

clean:
	@rm -rf eqfuzz-out site coverage.svg dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -path ./$(VENV) -prune -o -type d \( -name __pycache__ -o -name '*.egg-info' \) -prune -exec rm -rf {} +

# Inductor needs g++; the others are optional. Without root they are reported as missing.
$(VENV)/.system:
	@mkdir -p $(VENV)
	@missing=(); \
	for pair in g++:g++ mold:mold bwrap:bubblewrap dot:graphviz; do \
	    command -v "$${pair%%:*}" > /dev/null || missing+=("$${pair#*:}"); \
	done; \
	$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || missing+=(python3-venv); \
	if [ $${#missing[@]} -gt 0 ]; then \
	    as_root=(none); \
	    if [ "$$(id -u)" -eq 0 ]; then as_root=(env); elif sudo -n true 2> /dev/null; then as_root=(sudo -n); fi; \
	    apt=("$${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=1 \
	        -o Acquire::http::Timeout=30); \
	    if [ "$${as_root[0]}" = none ] || ! command -v apt-get > /dev/null; then \
	        echo "set-up: not installed, and not allowed to install: $${missing[*]}; continuing without"; \
	    elif echo "set-up: installing $${missing[*]}" && "$${apt[@]}" update > $(VENV)/apt.log 2>&1 \
	        && "$${apt[@]}" install -y --no-install-recommends "$${missing[@]}" >> $(VENV)/apt.log 2>&1; then :; \
	    else \
	        echo "set-up: could not install $${missing[*]} (see $(VENV)/apt.log); continuing without"; \
	    fi; \
	fi
	@touch $@

# Its time changes only with another TORCH, so that everything is installed again only then.
$(VENV)/.requirement: FORCE | $(VENV)/.system
	@[ "$$(cat $@ 2> /dev/null)" = '$(TORCH)' ] || echo '$(TORCH)' > $@

$(VENV)/.torch: $(VENV)/.requirement
	@[ -x $(PY) ] || { echo "set-up: creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "set-up: installing $(TORCH), the largest part: a CUDA build is 3 GB to download and 6 GB on disk"
	@$(PIP) -c $(VENV)/.requirement '$(TORCH)' | $(SHOW_DOWNLOADS)
	@touch $@

$(VENV)/.ready: pyproject.toml $(VENV)/.torch
	@echo "set-up: installing eqfuzz and its tools"
	@$(PIP) -c $(VENV)/.requirement -e '.[dev]' | $(SHOW_DOWNLOADS)
	@echo "set-up: done; for eqfuzz in this shell: . $(VENV)/bin/activate"
	@touch $@

FORCE:
