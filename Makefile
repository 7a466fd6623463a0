# make run        make a virtual environment, install, build everything manifests/qwen25.yaml names
# make test       the tests, in minutes
# make test-long  every test, the exhaustive ones too
# make coverage  the same, and which lines they do not reach; takes twice as long
# make lint       format, lint and type check
# make docs       write the generated pages of docs/ anew
# make bench      measure against peers; BENCH_GGUF=path/to/ggml-vocab-qwen2.gguf
# make bench-encoders  measure the C reader against other encoders and write docs/encoders.md; minutes

PYTHON ?= python3
VENV ?= .venv
MANIFEST ?= manifests/qwen25.yaml
PYTEST = $(VENV)/bin/python -m pytest -n auto

.PHONY: run test test-long coverage lint docs bench bench-encoders clean

run: $(VENV)/.run
	$(VENV)/bin/pipeline run $(MANIFEST)

test: $(VENV)/.test
	$(PYTEST)

test-long: $(VENV)/.test
	$(PYTEST) -m "long or not long"

coverage: $(VENV)/.test
	$(PYTEST) --cov --cov-report=term:skip-covered

lint: $(VENV)/.lint
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

docs: $(VENV)/.test
	$(VENV)/bin/python -m pipeline.documentation

bench: $(VENV)/.test
	$(VENV)/bin/python benchmarks/run.py $(BENCH_GGUF)

bench-encoders: $(VENV)/.test
	$(VENV)/bin/python benchmarks/encoders.py

clean:
	rm -rf build $(VENV)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: EXTRA = sample
$(VENV)/.test: EXTRA = test
$(VENV)/.lint: EXTRA = test,lint
$(VENV)/.run $(VENV)/.test $(VENV)/.lint: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRA)]'
	touch $@
