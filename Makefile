# Octant: every target sets up what it needs. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.octant-runs
STAMP := $(VENV)/.octant-installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
# An index that cannot be reached ends the set-up within seconds.
export PIP_RETRIES ?= 1
export PIP_DEFAULT_TIMEOUT ?= 8

STEP := $(PYTHON) src/octant/build/steps.py

.DEFAULT_GOAL := help
.PHONY: help setup evaluate test test-root quick check format bench constraints docs picture new-workload dev dev-openmpi openmpi intel sanitize fuzz field hwloc-suite mutants browser slurm sshd simgrid mpi-libraries clean

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP)  ## create .venv with Octant (editable), all of its programs, and all development tools
	@$(BIN)/python -m octant.build

# An incomplete environment would be used as if it were complete the next time; pip is the last that comes into it.
$(VENV)/bin/pip:
	@command -v $${CXX:-g++} >/dev/null || command -v c++ >/dev/null || command -v clang++ >/dev/null || \
		{ echo "cannot build the kernels (no C++ compiler on PATH); try apt-get install g++, or set CXX" >&2; exit 1; }
	@$(STEP) "set-up 1/3: an environment of its own in $(VENV)" 5 $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
$(RUNS): $(VENV)/bin/pip pyproject.toml constraints.txt cmake/mpi_flavour.py
	@$(STEP) "set-up 2/3: build tools" 5 $(BIN)/pip install scikit-build-core nanobind cmake ninja
	@$(STEP) "set-up 3/3: Octant and its MPI library" 8 $(BIN)/pip install --no-build-isolation -e .
	@touch $@
$(STAMP): $(RUNS)
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"], \
		"pip", sep="\n")' >$(VENV)/development.txt
	@$(STEP) "development tools" 20 $(BIN)/python -m pip install --upgrade -r $(VENV)/development.txt
	@touch $@

evaluate: $(RUNS)  ## measure this machine (about three minutes with the set-up) and print the path of the report
	$(BIN)/octant evaluate --quick

test: sanitize dev dev-openmpi hwloc-suite  ## run all tests: native, Python, and those of more ranks than cores with Open MPI
	$(BIN)/python -u -m pytest -q --together -n 2
	$(BIN)/python -u -m pytest -q --alone  # one after the other: they start processes on every core

test-root:  ## run the tests that need root, with what `make test` has built (root)
	OCTANT_KERNELS=$(CURDIR)/build/dev/bin PYTHONDONTWRITEBYTECODE=1 $(BIN)/pytest -q --root -p no:cacheprovider

# One build with fault injection and warnings as errors serves all tests; the second has the kernels that tests start with Open MPI.
# Ninja would look for the job server of `make --jobs`, which only a recursive make can use.
WITH_TOOLS := @MAKEFLAGS= PATH="$(CURDIR)/$(BIN):$$PATH"
OPENMPI_KERNELS := hpcc-gfft hpcc-hpl hpcc-ptrans hpcc-randomaccess mpi-clock mpi-collective mpi-exchange mpi-guidelines mpi-mpiio mpi-onesided \
	mpi-p2p mpi-ring mpi-startup mpi-threads node-stream mpi-probe bind pages link
dev: $(STAMP)  ## build kernels with fault injection and warnings as errors, in build/dev
	@mkdir -p build
	$(WITH_TOOLS) cmake --preset dev >build/dev.log 2>&1 || { cat build/dev.log; exit 1; }
	$(WITH_TOOLS) cmake --build --preset dev
dev-openmpi: $(STAMP) openmpi
	$(WITH_TOOLS) OCTANT_MPI=site cmake --preset openmpi -DOCTANT_MPI_CXX=$(CURDIR)/.venv-openmpi/bin/mpicxx >build/openmpi.log 2>&1 || \
		{ cat build/openmpi.log; exit 1; }
	$(WITH_TOOLS) cmake --build --preset openmpi --target $(addprefix octant-,$(OPENMPI_KERNELS))

openmpi: .venv-openmpi/.octant-installed  ## set up .venv-openmpi, where Octant uses Open MPI (for more ranks than cores)
.venv-openmpi/.octant-installed: pyproject.toml constraints.txt cmake/mpi_flavour.py
	@test -x .venv-openmpi/bin/pip || $(PYTHON) -m venv .venv-openmpi
	@$(STEP) "Open MPI 1/2: build tools" 5 .venv-openmpi/bin/pip install scikit-build-core nanobind cmake ninja
	@OCTANT_MPI=openmpi $(STEP) "Open MPI 2/2: Octant and Open MPI" 8 .venv-openmpi/bin/pip install --no-build-isolation -e .
	@touch $@

intel: .venv-intel/.installed  ## install Intel MPI, with the programs of IMB, in .venv-intel (for tests of the profiler, and bench_mpi.py)
# Without its libfabric, which is not on PyPI: it works within a node. The pip of .venv installs it.
.venv-intel/.installed: | $(RUNS)
	test -x .venv-intel/bin/python || $(PYTHON) -m venv --without-pip .venv-intel
	$(BIN)/pip --python .venv-intel/bin/python install -q --no-deps impi-rt
	@touch $@

sanitize: $(STAMP)  ## run the native tests under the address and undefined-behaviour sanitizers, in build/asan
	$(WITH_TOOLS) cmake --preset asan >/dev/null
	$(WITH_TOOLS) cmake --build --preset asan --target native_tests
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/ctest --test-dir build/asan -j 2 --output-on-failure --no-tests=error

N := 300
fuzz: $(STAMP)  ## put changed inputs to every reader of foreign text, the network module under the sanitizers (N for each)
	$(WITH_TOOLS) cmake --preset asan >/dev/null
	$(WITH_TOOLS) cmake --build --preset asan --target _network
	compiler=$${CXX:-c++}; LD_PRELOAD="$$($$compiler -print-file-name=libasan.so) $$($$compiler -print-file-name=libstdc++.so.6)" \
		ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=4:hard_rss_limit_mb=3000 \
		$(BIN)/python tests/fuzz/run.py --network build/asan/bin --inputs $(N)

# Recorded machines of hwloc's test suite, in build/hwloc-suite; without them their tests are skipped.
hwloc-suite: $(STAMP)
	-@$(BIN)/python tests/support/hwloc_suite.py
field: hwloc-suite  ## read the machines of hwloc's test suite (Debian's source package), and compare them with hwloc's own output
	$(BIN)/pytest -q -n 2 tests/machine/test_hwloc_suite.py

quick: $(STAMP)  ## run the tests that start no native program, in a minute (the network model is built once)
	@mkdir -p build
	$(WITH_TOOLS) cmake --preset dev >build/dev.log 2>&1 || { cat build/dev.log; exit 1; }
	$(WITH_TOOLS) cmake --build --preset dev --target _network
	$(BIN)/pytest -q --quick -n 2

check: $(STAMP)  ## check format, lint, types, layering, spelling
	$(BIN)/ruff format --check src tests bench cmake conftest.py
	$(BIN)/ruff check src tests bench cmake conftest.py
	$(BIN)/mypy
	$(BIN)/lint-imports
	find native src -name '*.cpp' -o -name '*.hpp' | xargs $(BIN)/clang-format --dry-run --Werror
	$(BIN)/codespell src native tests bench docs conftest.py *.md
	$(BIN)/python .ci/discouraged_words.py

format: $(STAMP)  ## format the sources
	$(BIN)/ruff check --fix -q src tests bench cmake conftest.py; $(BIN)/ruff format -q src tests bench cmake conftest.py
	find native src -name '*.cpp' -o -name '*.hpp' | xargs $(BIN)/clang-format -i

bench: setup  ## compare Octant with its peers, as ratios (on a quiet machine)
	ended=0; for file in bench/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || ended=1; done; exit $$ended

AREA ?= stats
SAMPLE ?= 0
MUTANTS := build/mutants/.venv
mutants: $(STAMP) dev  ## mutate AREA=stats (analysis, record, store, foreign, network, planner, verdict) and count what its tests kill; SAMPLE=250 of them
# In an environment of its own: an editable install would put the sources in the place of the mutants.
	@test -x $(MUTANTS)/bin/mutmut || { $(PYTHON) -m venv $(MUTANTS) && \
		echo $(CURDIR)/$(VENV)/lib/python3*/site-packages >$$(echo $(MUTANTS)/lib/python3*/site-packages)/octant.pth && \
		$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["mutants"], \
		sep="\n")' | $(MUTANTS)/bin/pip install -q -r /dev/stdin; }
	PYTHONPATH=tests/support $(MUTANTS)/bin/python tests/support/mutants.py $(AREA) --sample $(SAMPLE)

docs: $(STAMP)  ## build the documentation, in docs/_build
	$(BIN)/pip install -q myst-parser sphinx
	$(BIN)/sphinx-build -q -W docs docs/_build

constraints: $(STAMP)  ## write constraints.txt anew: the newest versions within the bounds (then run `make test`)
	env -u PIP_CONSTRAINT $(BIN)/python cmake/constraints.py >constraints.new && mv constraints.new constraints.txt

new-workload: $(RUNS)  ## create a workload folder from the template (NAME=family/name)
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

mpi-libraries:  ## install Debian's MPICH, Open MPI and gfortran, for tests of the profiler (root)
	apt-get install -y --no-install-recommends gfortran libmpich-dev libopenmpi-dev mpich openmpi-bin

clean:  ## remove builds and environments
	rm -rf build $(VENV) .venv-openmpi .venv-intel .mypy_cache .ruff_cache .pytest_cache docs/_build
