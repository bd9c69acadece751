# Each target prints the plain command that it runs; nothing here is needed to run it by hand.
# Another config: make sweep CONFIG=config/quick.yaml. More flags for Snakemake: ARGS="--cores 4".
# STRICT=1: make sweep fails where a cell is not ok, after it has said everything; STRICT=0: it does
# not, whatever the config says.

CONFIG = config.yaml
ARGS =
STRICT =
MINUTES = 5
WITHIN = 1.5
UNDO =
OUT =
HOST =
FILES =
FILE =
DEVICE =
OPTIONS =
GATE =
ALLOW =
PYTHON = python3
BIN = .venv/bin
SNAKEMAKE = $(BIN)/snakemake --cores 1
ifneq ($(CONFIG),config.yaml)
SNAKEMAKE += --configfile $(CONFIG) --replace-workflow-config
endif
# -P: a file of yours beside this one is no library.
CROSSOVER = PYTHONPATH=workflow/scripts $(BIN)/python -P -m crossover

.PHONY: sweep test unit test-page test-cluster lint doctor plan refine retry fresh peek check-backend cell
.PHONY: report pack compare help install libraries
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

sweep: $(BIN)/.installed ## measure what CONFIG says, draw it, and say what came out
	@$(CROSSOVER) check --config $(CONFIG)
	$(SNAKEMAKE) $(ARGS) || $(CROSSOVER) lost --config $(CONFIG) -- $(SNAKEMAKE) $(ARGS)
	@$(CROSSOVER) close --config $(CONFIG) $(if $(STRICT),$(if $(filter 0,$(STRICT)),--no-strict,--strict))

test: $(BIN)/.installed-dev lint ## linters and tests
	$(BIN)/pytest -q -n auto --maxprocesses 8 --dist loadfile

unit: $(BIN)/.installed-dev ## the tests that start no process, in seconds
	$(BIN)/pytest -q -n auto --maxprocesses 8 -m unit

test-page: $(BIN)/.installed-page ## the page in a real Chromium, headless
	$(BIN)/pytest -q tests/browser

test-cluster: $(BIN)/.installed-cluster ## tests on a real Slurm, on this machine alone; as root
	@tests/cluster/install
	$(BIN)/pytest -q -rs tests/cluster

lint: $(BIN)/.installed-dev ## linters alone
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint
	$(BIN)/mypy

doctor: $(BIN)/.installed ## what was found on this machine, and what to do about it, in seconds
	$(CROSSOVER) doctor --config $(CONFIG)

plan: $(BIN)/.installed ## cells, jobs, expected minutes and disk, before anything runs
	$(CROSSOVER) plan --config $(CONFIG) -- $(ARGS)

peek: $(BIN)/.installed ## the summary so far of a sweep that is running or was interrupted
	$(CROSSOVER) peek --config $(CONFIG)

refine: $(BIN)/.installed ## add sizes where a backend begins to be faster: MINUTES=5 WITHIN=1.5 UNDO=1
	$(CROSSOVER) refine --config $(CONFIG) --minutes "$(MINUTES)" --within "$(WITHIN)" $(if $(filter-out 0,$(UNDO)),--undo) -- $(ARGS)

retry: $(BIN)/.installed ## list, then remove, what is not ok or not good; the next sweep redoes it
	$(CROSSOVER) retry --config $(CONFIG)

fresh: $(BIN)/.installed ## list, then remove, rounds that were not measured next to the baseline's
	$(CROSSOVER) fresh --config $(CONFIG)

check-backend: $(BIN)/.installed ## does a backend of your own keep its promises? FILE=mine.py [DEVICE=] [OPTIONS=]
	$(CROSSOVER) check-backend --file "$(FILE)" --device "$(DEVICE)" --options '$(OPTIONS)'

cell: $(BIN)/.installed ## one cell in the foreground: WORKLOAD=add BACKEND=numpy SIZE=1000 [DTYPE=]
	$(CROSSOVER) cell --config $(CONFIG) --workload "$(WORKLOAD)" --backend "$(BACKEND)" --size "$(SIZE)" --dtype "$(DTYPE)"

report: $(BIN)/.installed ## Snakemake's own report of the last sweep, as one HTML file
	@$(CROSSOVER) close --config $(CONFIG) --no-strict > /dev/null
	$(SNAKEMAKE) --report results/snakemake_report.html $(ARGS)
	@echo "The report is results/snakemake_report.html"

pack: $(BIN)/.installed ## the last sweep as one file to hand on: OUT=file.zip HOST=1 (its name)
	$(CROSSOVER) pack --config $(CONFIG) $(if $(OUT),--out "$(OUT)") $(if $(filter-out 0,$(HOST)),--host)

compare: $(BIN)/.installed ## machines beside each other: FILES="a.zip b.zip" OUT=folder GATE=1.10 ALLOW=1
	$(CROSSOVER) compare $(if $(OUT),--out "$(OUT)") $(if $(GATE),--gate "$(GATE)") $(if $(filter-out 0,$(ALLOW)),--allow) -- $(FILES)

install: $(BIN)/.installed ## only the virtual environment

libraries: $(BIN)/.installed-libraries ## NumExpr, Numba and JAX beside it, for config/libraries.yaml

$(BIN)/.installed: requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Crossover needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --requirement requirements.txt
	@touch $@

$(BIN)/.installed-libraries: requirements-libraries.txt $(BIN)/.installed
	$(BIN)/pip install --quiet --requirement requirements-libraries.txt
	@touch $@

$(BIN)/.installed-dev: requirements-dev.txt requirements-libraries.txt $(BIN)/.installed
	$(BIN)/pip install --quiet --requirement requirements-dev.txt
	@touch $@

$(BIN)/.installed-page: requirements-page.txt $(BIN)/.installed-dev
	$(BIN)/pip install --quiet --requirement requirements-page.txt
	@touch $@

$(BIN)/.installed-cluster: requirements-cluster.txt $(BIN)/.installed-dev
	$(BIN)/pip install --quiet --requirement requirements-cluster.txt
	@touch $@
