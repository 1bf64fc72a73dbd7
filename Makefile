# What is done here; every target sets up first, which takes no time once done.

PYTHON_IN_VENV := .venv/bin/python

# What is compiled is kept, whatever the shell says: thousands of tests, and all processes that they start, are compiled
# once and not by each of them.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-more test-ray smoke upgrade long bare chaos chaos-hosts lint types docs docs-check docs-site bench bundle conformance check clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make .venv with everything in it, and see to a browser
	@scripts/setup.sh $(filter setup,$(MAKECMDGOALS))

demo: setup ## Two agents share one login in a smart home
	@$(PYTHON_IN_VENV) -m examples.demo

# Two cores have no work left for a fourth process: all tests take as long with four, and more of them meet their limits
# of time. Pages are opened in a lighter browser of the same engine, but for tests that ask for the one that users have.
TESTS := $(PYTHON_IN_VENV) -m pytest -n 3 --dist worksteal
test test-more smoke upgrade: export TESTS_BROWSER ?= shell

test: setup ## Run the tests that start nothing of their own, and the promises from end to end, in four minutes
	@$(TESTS) -m "not (thorough or long or ray)" tests/pure tests/front tests/page tests/process/test_promises.py

test-more: setup ## Run those that take longer: processes, crashes, kills, attacks and lies of pages
	@$(TESTS) -m "thorough and not (long or ray)"

smoke: setup ## Run sixty tests with the oldest libraries that are allowed, the newest, and another Chromium
	@$(PYTHON_IN_VENV) -m scripts.libraries smoke

upgrade: setup ## Run the quick tests with the newest libraries there are, and say what broke
	@$(PYTHON_IN_VENV) -m scripts.libraries upgrade

# It installs Ray and the schemas of Kubernetes, which are 400 MB. As root: its machines are in a network of their own.
test-ray: setup ## Try hosts that Ray starts, and check the objects for Kubernetes
	@$(PYTHON_IN_VENV) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[video,ray]' --group engines
	@unshare --net sh -c 'ip link set lo up && ip address add 10.77.0.1 dev lo && \
		exec $(PYTHON_IN_VENV) -m pytest tests/process/hosts/test_ray.py tests/pure/packaging/test_kubernetes.py'

long: setup ## Run what takes longest (kills, floods, all combinations, Ray, bare), before a release
	@$(PYTHON_IN_VENV) -m scripts.long

# As root, where debootstrap is installed.
bare: setup ## Run demo, all tests and the Dockerfile's steps on a bare Debian; before each release
	@$(PYTHON_IN_VENV) -m scripts.bare

# Its seed is printed: BROWSE_CHAOS_SEED=<seed> repeats a run, BROWSE_CHAOS_KILLS=<n> makes it shorter or longer.
chaos: export BROWSE_CHAOS_SEED ?= random
chaos: export BROWSE_CHAOS_KILLS ?= 200
chaos: export TESTS_BROWSER = whole
chaos: setup ## Kill browsers, services and gateways 200 times under load
	@$(PYTHON_IN_VENV) -m pytest -s tests/process/chaos

chaos-hosts: export BROWSE_CHAOS_KILLS ?= 30
chaos-hosts: setup ## Kill hosts, their browsers and links, and the front 30 times under load
	@$(PYTHON_IN_VENV) -m pytest -s tests/process/hosts/test_chaos_hosts.py

lint: setup ## Check style, formatting, sizes, documents and set-up
	@$(PYTHON_IN_VENV) -m ruff check .
	@$(PYTHON_IN_VENV) -m ruff format --check .
	@$(PYTHON_IN_VENV) -m scripts.lint

types: setup ## Check types
	@$(PYTHON_IN_VENV) -m mypy

docs: setup ## Write the generated pages anew
	@$(PYTHON_IN_VENV) -m scripts.reference
	@$(PYTHON_IN_VENV) -m scripts.settings_tables

docs-check: setup ## Check that the generated pages are current
	@$(PYTHON_IN_VENV) -m scripts.reference --check
	@$(PYTHON_IN_VENV) -m scripts.settings_tables --check

docs-site: setup ## Build the pages of docs/ as a site, in build/site
	@$(PYTHON_IN_VENV) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group site
	@NO_MKDOCS_2_WARNING=1 $(PYTHON_IN_VENV) -m mkdocs build --strict --quiet
	@echo "docs-site: build/site/index.html"

bench: setup ## Measure
	@$(PYTHON_IN_VENV) -m benchmarks

bundle: setup ## Build the wheel, the source archive, an MCP bundle and the registry's server.json, in dist
	@$(PYTHON_IN_VENV) -m scripts.bundle

# Needs node and npm, which install the programs of others beside their list, in conformance/.
conformance: setup ## Try the gateway with the protocol's own suites, its Inspector and its TypeScript clients, and the wall with axe-core
	@$(PYTHON_IN_VENV) -m conformance

check: lint types docs-check conformance smoke test-more ## All that must hold before a change lands, in twenty minutes
	@$(PYTHON_IN_VENV) -m scripts.long --owed
	@$(MAKE) --no-print-directory test

clean: ## Remove .venv, caches and build leftovers
	rm -rf conformance/node_modules .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
