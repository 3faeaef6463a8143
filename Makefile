# The menu: `make` alone lists what can be done.
.DEFAULT_GOAL := help
SHELL := /bin/sh
BIN := .venv/bin
READY := .venv/.ready

# Compiled modules are kept, even where the environment disables that: the tests start hundreds of
# processes, and each would compile everything again.
unexport PYTHONDONTWRITEBYTECODE

# An environment that was moved, or whose Python is gone, is created again.
ifneq ($(shell .venv/bin/python -c '' 2>/dev/null && cat .venv/.home 2>/dev/null),$(CURDIR))
$(READY): remake
endif

.PHONY: remake help setup demo test test-deep check format generate bench peers peer stack real sim sim-all clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make the private environment; leaves the command at .venv/bin/compute

demo: $(READY) ## start the world, deploy to three cities, restart, cut a city off and heal it; ONCE=1 ends it
	@$(BIN)/python tools/demo.py $(if $(ONCE),--once)

# The tests that must cover every branch run first and alone: tracing the others would prove less, since
# they reach code by chance, and take more than twice the time.
COVERING := tests/unit/kubekit/api tests/unit/compute/api tests/unit/compute/decide

# One worker more than there are cores: some tests wait for processes, and not for a core.
WORKERS = $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

test: $(READY) ## run the tests; api/ and decide/ must be covered to the last branch
	@$(BIN)/pytest -q -n auto $(COVERING) --cov=kubekit.api --cov=compute.api --cov=compute.decide --cov-branch \
		--cov-report=term:skip-covered --cov-fail-under=100
	@$(BIN)/pytest -q -n $(WORKERS) --dist worksteal $(addprefix --ignore=,$(COVERING))

test-deep: $(READY) ## the same tests with large numbers: all seeds, many examples, hundreds of kills; hours
	@DEEP=1 $(MAKE) --no-print-directory test
	@$(BIN)/python bench/soak.py

real: $(READY) ## run the tests that need real peers; REQUIRE_PEERS=1 fails where there are none
	@$(BIN)/pytest -q -n 2 --peers tests/contract
	@$(BIN)/pytest -q -n 2 --peers -m "peer and not stack" tests/e2e tests/peers $(wildcard tests/differential)
	@$(BIN)/pytest -q -m stack tests/e2e/federation

sim: $(READY) ## replay a simulated world, line by line: make sim SEED=7, or with OF=runtime
	@$(BIN)/python -m tests.sim.$(if $(filter runtime,$(OF)),replay,whole.replay) $(SEED)

sim-all: $(READY) ## a crash after every write, and every other plan of faults
	@$(BIN)/python -m tests.sim.whole.plans all

check: $(READY) ## format, lint, types, imports, generated files, docs, words, class names
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/generate.py --check
	@$(BIN)/python tools/check_docs.py
	@$(BIN)/python tools/check_words.py
	@$(BIN)/python tools/check_tree.py

format: $(READY) ## format the code and fix what the linter can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

generate: $(READY) ## write the CRDs and the tables of the docs from the types
	@$(BIN)/python tools/generate.py

bench: $(READY) ## measure decisions and, briefly, plane, clients, runtime, world and federation; each has a --help
	@$(BIN)/python bench/decide.py
	@$(BIN)/python bench/plane.py --quick
	@$(BIN)/python bench/clients.py --rounds 1 --seconds 0.5
	@$(BIN)/python bench/runtime.py --quick
	@$(BIN)/python bench/world.py --quick
	@$(BIN)/python bench/federation.py --quick --engines embedded

# Building them needs nothing of the environment, so this target does not depend on it.
peers: ## build etcd, Kubernetes, Karmada and kwok for the tests; NAMES="kubernetes" for fewer
	@python=$$(tools/python) && "$$python" -m tools.peers $(NAMES)

peer: $(READY) ## run a real kube-apiserver with our kinds until Ctrl-C
	@$(BIN)/python -m tests.peers

stack: $(READY) ## run a project, a hub with Karmada and two cells on real servers until Ctrl-C
	@$(BIN)/python -m tests.peers.stack

clean: ## remove the private environment and every cache
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage dist
	@find src tests tools bench -name __pycache__ -prune -exec rm -rf {} +

# A finished set-up is remembered until the lock or the recipe changes.
$(READY): uv.lock pyproject.toml tools/setup.py tools/python
	@python=$$(tools/python) && "$$python" tools/setup.py
	@touch $@
