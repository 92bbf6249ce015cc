# `make demo` and `make test` set up everything they need in .venv, pinned, the first time.
# With a sourced ROS 2 they use its rclpy and numpy; without one, wheels of ROS 2 Jazzy.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=

# Discovery stays on this machine (Jazzy and newer); a domain of its own keeps a robot nearby apart.
export ROS_AUTOMATIC_DISCOVERY_RANGE ?= LOCALHOST
export ROS_DOMAIN_ID ?= 77

# Threads of BLAS gain nothing on matrices of a robot, and cost much on a busy machine.
export OPENBLAS_NUM_THREADS ?= 1

# One set of stamps for each kind of environment: wheels, or the sourced ROS 2.
KIND := $(if $(AMENT_PREFIX_PATH),ros-$(ROS_DISTRO),wheels)
PINS := constraints.txt constraints-numpy1.txt $(wildcard requirements/*.txt requirements/*.py) \
  setup.py setup.cfg
BENCHMARKS = $(sort $(shell grep -l __main__ benchmark/*.py))

.PHONY: help demo test lint bench soak venv clean check-python
.NOTPARALLEL:

help:
	@echo 'make demo    the simulated ES5 arm follows trajectories on model torques, over real DDS'
	@echo 'make test    all tests (PYTEST_ARGS="-k name" for some)'
	@echo 'make lint    formatting, style, types'
	@echo 'make bench   speed, side by side with Pinocchio'
	@echo 'make soak    the long runs'
	@echo 'make venv    only set up $(VENV)'
	@echo 'make clean   remove $(VENV) and what the other targets left'

demo: $(VENV)/.run-$(KIND)
	$(BIN)/python -m robot_dynamics_ros.tools.cli demo

test: $(VENV)/.test-$(KIND)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

soak: $(VENV)/.test-$(KIND)
	$(BIN)/python -m pytest -m soak $(PYTEST_ARGS)
	-$(BIN)/python benchmark/node_latency.py --seconds 600

bench: $(VENV)/.test-$(KIND)
	@set -e; for script in $(BENCHMARKS); do echo "== $$script"; $(BIN)/python $$script; done

lint: $(VENV)/.lint-$(KIND)
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/python .ci/ament_lint.py
	$(BIN)/python -m mypy

venv: $(VENV)/.test-$(KIND) $(VENV)/.lint-$(KIND)

clean:
	rm -rf $(VENV) build install log results .pytest_cache .mypy_cache .ruff_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Tests and linters build on what runs.
$(VENV)/.test-$(KIND) $(VENV)/.lint-$(KIND): $(VENV)/.run-$(KIND)

$(VENV)/.%-$(KIND): $(PINS) | check-python
	@$(PYTHON) requirements/build_venv.py $(VENV) $*
	@touch $@

check-python:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "error: $(PYTHON) not found; install Python 3.10 or newer" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "error: Python 3.10 or newer is needed, $(PYTHON) is $$($(PYTHON) -V 2>&1)" >&2; exit 1; }
