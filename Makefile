# make study | new | fetch-data | unlock | compare | paper | check-inputs | test | test-lowest | test-screenless | test-all | check | lock | coverage | docs | benchmark | clean; requires only
# Python 3.11 or later and make.
# Not in .SHELLFLAGS, which make 3.81 (macOS) ignores: a recipe must end at its first error.
SHELL := bash -euo pipefail
.DEFAULT_GOAL := help

CORES ?= 2
CONFIG ?=
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
STUDIES ?=
LOGGER ?= kneewear
STAMP := .venv/.installed
DEVELOPED := .venv/.developed
STANDARDS := .venv/.standards
WORKFLOW := Snakefile workflow
# Packages that kernels need, with what these need: they come first, and kernels compile while the others come.
KERNELS := annotated-types llvmlite numba numpy pydantic pydantic-core pyyaml scipy threadpoolctl typing-extensions typing-inspection
# Installs several times faster than pip, which does it where there is no uv.
UV := uv==0.13.9
empty :=
# Python keeps modules compiled as they are imported.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help study new fetch-data unlock compare paper check-inputs test test-slow test-lowest test-screenless test-all check lock coverage docs benchmark clean environment

help:
	@echo "make new NAME=mine INSERT=\"FILE ...\" FEMORAL=\"FILE ...\"  settings of an implant from its files"
	@echo "make fetch-data                                   public files of a real implant, into the data folder"
	@echo "make study [CORES=2] [CONFIG=quick]               run a study into results/"
	@echo "make compare STUDIES=\"default quick\"             compare finished studies"
	@echo "make paper                                        figures and tables of the source documents"
	@echo "make unlock                                       after a run that was killed"
	@echo "make check-inputs [CONFIG=config/mine.yaml]       show implant and motion before the study"
	@echo "make test | test-all | check | coverage | docs | benchmark | clean"

environment: $(STAMP)
	@:

# A linked environment is another checkout's: it is used and not changed.
$(STAMP): requirements.lock
	@if [ -L .venv ]; then \
		$(BIN)/python -c "import snakemake" 2>/dev/null && exit 0; \
		echo ".venv: found a link to $$(readlink .venv), which holds no environment; expected a folder." \
			"Remove the link (rm .venv) and run make again."; exit 1; fi; \
	test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed; name it with PYTHON=..."; exit 1; }; \
	echo "Setting up .venv with $(PYTHON) ..."; \
	$(PYTHON) -m venv .venv || { echo ".venv: could not be made with $(PYTHON), whose words are above. Make" \
		"this folder writable and its disk roomy (Debian: apt-get install python3-venv), then run make again."; exit 1; }; \
	$(INSTALL); \
	$(PIP) $(UV) 2>/dev/null || true; \
	awk '/^[^ ]/ {chosen = /^($(subst $(empty) $(empty),|,$(KERNELS)))==/} chosen' $< > .venv/kernels.lock; \
	install -r .venv/kernels.lock; \
	for part in contact layers motion; do $(BIN)/python -m kneewear.motion.warm_up $$part 2>/dev/null & done; \
	install -r $<; \
	install --no-deps --editable .; \
	echo "Compiling kernels ..."; \
	wait; \
	$(BIN)/python -c "import kneewear.api, snakemake"; \
	touch $@

PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile --retries 1
# Into the environment `folder`, by default that of studies.
define INSTALL
install() { \
	$(BIN)/uv pip install -q --python $${folder:-.venv}/bin/python "$$@" 2>/dev/null || \
	$${folder:-.venv}/bin/python -m pip install -qq --disable-pip-version-check --no-compile --retries 1 "$$@" || { \
	echo "The packages of this checkout were not installed; pip's reason is above. Without a network or behind a" \
		"firewall, name a proxy (https_proxy=http://HOST:PORT) or a mirror (PIP_INDEX_URL=https://HOST/simple)" \
		"in the environment; then run make again." >&2; exit 1; }; }
endef

# Packages of tests, checks and documentation.
$(DEVELOPED): requirements-dev.lock $(STAMP)
	@if [ -L .venv ]; then exit 0; fi; \
	echo "Adding packages of development to .venv ..."; \
	$(INSTALL); \
	install -r $<; \
	touch $@

# Validators of metadata, whose requirements exclude those of other packages.
$(STANDARDS): requirements-standards.lock $(STAMP)
	@if [ -L .venv ]; then exit 0; fi; \
	echo "Setting up .venv/standards ..."; \
	$(INSTALL); \
	folder=.venv/standards; \
	$(BIN)/python -m venv --clear $$folder; \
	install -r $<; \
	touch $@

# Newer versions of all packages, with the digests of their files.
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command "make lock" --upgrade
lock: $(STAMP)
	$(LOCK) pyproject.toml --extra cad --extra fe --extra optimisation --extra synthesis --output-file requirements.lock
	$(LOCK) --group dev --group docs --constraint requirements.lock --output-file requirements-dev.lock
	$(LOCK) --group standards --output-file requirements-standards.lock

study:
	@$(MAKE) --no-print-directory environment; \
	$(BIN)/python -c "" 2>/dev/null || { echo ".venv/bin/python: cannot be run; the folder or its Python was" \
		"moved. Remove .venv (rm -r .venv) and run make again."; exit 1; }; \
	$(BIN)/python -m kneewear run --cores $(CORES) --logger $(LOGGER) "$(CONFIG)"

# Settings of an implant from its files: kneewear new --help lists further options (OPTIONS="...").
new: $(STAMP)
	@$(BIN)/python -m kneewear new $(NAME) --insert $(INSERT) --femoral $(FEMORAL) $(OPTIONS)

# Public data of subject DM; OPTIONS="--mirror ADDRESS" names a mirror.
fetch-data: $(STAMP)
	@$(BIN)/python -m kneewear fetch $(OPTIONS)

# After a run that was killed.
unlock: $(STAMP)
	@$(BIN)/python -m kneewear unlock

# Finished studies side by side, into results/comparisons/.
compare: $(STAMP)
	@$(BIN)/python -m kneewear compare "$(STUDIES)"

# Tests that run at once have one core each (tests/conftest.py).
PYTEST := $(BIN)/python -m pytest

# About four minutes on two cores once kernels are compiled.
test: $(DEVELOPED)
	$(PYTEST) -n 2 --dist loadfile -m "not slow"

# Whole studies, browser, documentation, cluster, faults of running studies, and tests of over about a second.
# Three at once: many wait for processes that they start.
test-slow: $(DEVELOPED) $(STANDARDS)
	$(PYTEST) -n 3 --dist loadfile --no-loadscope-reorder -m slow

test-all: test test-slow

# The quick study with the lowest versions of packages that pyproject.toml allows, in a folder of its own;
# and tests of what depends on them most: readers, files of results, plans and figures.
LOWEST := build/lowest
LOWEST_TESTS := tests/io/test_curves.py tests/io/test_digests.py tests/io/test_documents.py \
	tests/io/test_numerals.py tests/io/test_points.py tests/io/test_pose_files.py tests/io/test_round_trips.py \
	tests/io/test_vtk.py tests/report/test_figures.py tests/report/test_static_figures.py tests/study/test_plans.py
test-lowest: $(DEVELOPED)
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)/venv
	$(BIN)/uv pip install -q --python $(LOWEST)/venv/bin/python --resolution lowest-direct .
	cd $(LOWEST) && venv/bin/kneewear run quick --cores $(CORES)
	test -f $(LOWEST)/results/quick/report/index.html
	$(BIN)/uv pip install -q --python $(LOWEST)/venv/bin/python hypothesis pytest pytest-xdist
	$(LOWEST)/venv/bin/python -m pytest -n 2 --dist loadfile -m "not slow" $(LOWEST_TESTS)

# The quick study without the libraries of a screen, which servers and containers lack.
test-screenless: $(DEVELOPED)
	.ci/screenless build/screenless $(CORES)

check: $(DEVELOPED) $(STANDARDS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/snakefmt --check $(WORKFLOW)
	$(BIN)/snakemake --lint
	$(BIN)/mypy kneewear
	$(BIN)/lint-imports
	$(BIN)/python -m benchmarks.structure
	.venv/standards/bin/validate-pyproject pyproject.toml
	.venv/standards/bin/cffconvert --validate
	.venv/standards/bin/repo-review .

# Figures and tables of the source documents, numbered as there, into results/paper/: studies that are
# not finished are run first, which takes hours. Those whose data are missing are left out.
paper: $(STAMP)
	@for study in $$($(BIN)/python -m kneewear paper --missing); do \
		file=$$study; [ $$study = default ] && file=; \
		$(MAKE) --no-print-directory study CONFIG=$$file || true; done; \
	$(BIN)/python -m kneewear paper

check-inputs: $(STAMP)
	$(BIN)/python -m kneewear check "$(CONFIG)"

# Kernels run as Python, so that their lines are counted; tests marked compiled, slow or workflow are
# left out, so that the result does not depend on the speed of the machine.
coverage: $(DEVELOPED)
	$(BIN)/coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -n 2 --dist loadfile
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

docs: $(DEVELOPED)
	$(BIN)/python -m docs.generators.build build/docs
	$(BIN)/python -m mkdocs build --strict
	$(BIN)/python -m docs.generators.offline site

benchmark: $(DEVELOPED)
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf results .snakemake .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find kneewear tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
