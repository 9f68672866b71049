# Every target sets up what it needs: a virtual environment in .venv, and Java 17 where that is possible.
#
#   make demo           a million rows against 10,000 rules, on an embedded Spark
#   make test           lint, then all tests, WORKERS of them at a time (one more than there are cores, at most four:
#                       some wait for servers); a worker has a Spark of its own and takes up to 4 GB
#   make test-fast      what needs neither a server nor a browser, and a few tests with Spark: under two minutes
#   make test-push-down the tests with Spark, every query with the scan filter it can have
#   make lint           ruff and mypy, and the Scala compiler with warnings as errors
#   make test-scala     the plugin's own unit tests, without Spark; SEED and TIMES for other and more random cases
#   make docs           the documentation as a site, in build/site
#   make build          the wheel (with a prebuilt jar) and the source distribution, in dist/
#   make release        make build, then check the metadata and run the smoke test on the wheel; uploads nothing
#   make bench          speed against other ways to do the same; BENCH='--quick' or other options
#   make bench-peers    strings and Sigma's rules against Hyperscan, RE2 and rsigma; needs cargo for the last
#   make papers         the experiments of the five papers, and docs/papers.md; PAPERS='--quick' or other options
#   make fuzz           random rules against Spark's WHERE, for MINUTES=10 from SEED
#   make test-hostile   every attack of tests/hostile in child processes: HOSTILE='--family regex' or other options
#   make test-versions  a small suite on every supported minor of PySpark
#   make test-sqlglot   the tests of the rule language on both ends of the range of sqlglot
#   make test-lakes     Delta Lake, Iceberg, Kafka and PostgreSQL, on the newest Spark that all exist for; downloads 150 MB
#   make test-bi        dbt and Apache Superset against a Thrift server, and eight clients for a minute; needs Chromium
#   make clean          remove what the above have made, except the virtual environments

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYSPARK_MINORS := 4.0 4.1 4.2 4.3

.PHONY: demo test test-fast test-push-down test-scala lint docs build release bench bench-peers papers fuzz test-hostile \
  test-versions test-sqlglot test-lakes test-stores test-bi chromium clean setup java $(PYSPARK_MINORS:%=test-pyspark-%)

demo: setup
	$(BIN)/sparkrules demo

# Spark's classes, from which every Java that tests start takes them: tests/class_archive.py.
CLASSES := build/spark-classes.jsa
$(CLASSES): $(STAMP) tests/class_archive.py
	-$(BIN)/python -m tests.class_archive

# Who takes which tests, and in which order, is in tests/order.py.
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
WORKERS ?= $(shell expr $(CORES) + 1)
# In memory, where there is enough: a store syncs every file that it writes, and tests would wait for the disk.
TEMPORARY = $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print "/dev/shm" }')
# Python compiles a file once for all workers and all programs of tests, also where it was told not to keep the result.
PYTEST = PYTHONDONTWRITEBYTECODE= PYTEST_DEBUG_TEMPROOT=$(TEMPORARY) \
  $(BIN)/python -m pytest --numprocesses $(WORKERS) --maxprocesses 4

test: lint $(CLASSES)
	$(PYTEST)

# Nothing here waits: a worker for each core.
test-fast: WORKERS = $(CORES)
test-fast: setup
	$(PYTEST) -m 'smoke or not (spark or programs or slow)'

test-push-down: setup $(CLASSES)
	SPARKRULES_TEST_PUSH_DOWN=always $(PYTEST) tests/spark tests/api tests/fuzz tests/docs

test-scala: setup
	$(BIN)/python -m pytest tests/catalyst/test_scala_units.py

# The jar goes to the cache, where the tests find it.
lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/sparkrules build-jar --strict & jar=$$!; code=0; $(BIN)/mypy || code=1; wait $$jar || code=1; exit $$code

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "the site is in build/site: open build/site/index.html"

build: setup
	rm -rf build/jar dist
	$(BIN)/sparkrules build-jar --prebuilt build/jar
	$(BIN)/python -m build --sdist --wheel --outdir dist .

# Away from the checkout, so that `import sparkrules` finds the wheel. Uploading is a step of its own: CONTRIBUTING.md.
release: build
	$(BIN)/python -m twine check --strict dist/*
	rm -rf build/release && mkdir -p build/release
	$(PYTHON) -m venv build/release/venv
	build/release/venv/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[test]"
	cp -R tests pyproject.toml build/release/
	cd build/release && venv/bin/sparkrules jar-path && venv/bin/python -m pytest tests/spark/test_smoke.py
	@echo "dist/ is ready; nothing has been uploaded"

bench: setup
	$(BIN)/python -m benchmarks $(BENCH)

# Hyperscan and RE2 are not installed into .venv: nothing else needs them. Without cargo, rsigma is left out.
RSIGMA := build/peers/rsigma/release/rsigma-peer
bench-peers: setup .venvs/text-peers/.installed
	-cd benchmarks/peers/rsigma && CARGO_TARGET_DIR=$(CURDIR)/build/peers/rsigma cargo build --quiet --locked --release
	PYTHONPATH=.venvs/text-peers $(BIN)/python -m benchmarks.text --rsigma $(RSIGMA) $(BENCH)

.venvs/text-peers/.installed: benchmarks/text/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(@D) --requirement $<
	@touch $@

papers: setup
	$(BIN)/python -m benchmarks.papers $(PAPERS)

MINUTES ?= 10
fuzz: setup
	$(BIN)/python -m tests.fuzz.run --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

test-hostile: setup
	$(BIN)/python -m tests.hostile.run $(HOSTILE)

setup: java $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
	  echo "sparkrules needs Python 3.10 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1)."; \
	  echo "Install one, or name it: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "The virtual environment cannot be made; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# Spark needs Java 17 or newer. Debian and Ubuntu as root: installed here. Elsewhere: say what to install.
java:
	@sh jars/ensure_java.sh

# What the small suite imports: all that the others test with would take longer to install than the suite takes.
SMOKE := hypothesis 'pandas<3' pytest pytest-timeout pytest-xdist
TEST_VERSIONS := $(PYSPARK_MINORS:%=test-pyspark-%)
test-versions: $(TEST_VERSIONS)

# One after the other, also under make -j: each starts a Spark of its own.
.NOTPARALLEL:

$(TEST_VERSIONS): test-pyspark-%: java .venvs/%/.installed
	.venvs/$*/bin/python -m pytest tests/spark/test_smoke.py

.venvs/%/.installed: pyproject.toml
	@test -x .venvs/$*/bin/python || $(PYTHON) -m venv .venvs/$*
	.venvs/$*/bin/python -m pip install --quiet --disable-pip-version-check --editable . 'pyspark==$*.*' $(SMOKE)
	@touch $@

# The oldest sqlglot that pyproject.toml allows, in front of the one that is installed; and the newest that it allows.
OLDEST_SQLGLOT := 30.25.0
test-sqlglot: setup .venvs/sqlglot-$(OLDEST_SQLGLOT)/.installed .venvs/sqlglot-newest/.installed
	for version in $(OLDEST_SQLGLOT) newest; do \
	  PYTHONPATH=.venvs/sqlglot-$$version $(BIN)/python -m pytest -q $(SQLGLOT_TESTS) || exit 1; done

SQLGLOT_TESTS := tests/sql --ignore tests/sql/test_against_spark_parser.py

.venvs/sqlglot-%/.installed: pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(@D) \
	  'sqlglot$(if $(filter newest,$*),>=$(OLDEST_SQLGLOT)$(COMMA)<31,==$*)'
	@touch $@

COMMA := ,

# Not part of `make test`: it has the newest Spark, for which these are not published yet.
LAKES_MINOR := 4.1
test-lakes: java .venvs/$(LAKES_MINOR)/.installed
	@.venvs/$(LAKES_MINOR)/bin/python -m pip install --quiet --disable-pip-version-check 'psycopg[binary]>=3.1'
	SPARKRULES_TEST_LAKES=1 .venvs/$(LAKES_MINOR)/bin/python -m pytest -rs tests/lakes

# Hadoop's client of S3 is 690 MB, so only a part of this is in `make test`: what needs Python alone.
test-stores: setup .venvs/azurite/.installed
	SPARKRULES_TEST_STORES=1 $(BIN)/python -m pytest -rs tests/stores

.venvs/azurite/.installed:
	-npm install --silent --no-audit --no-fund --prefix $(@D) azurite
	@mkdir -p $(@D) && touch $@

# dbt and Superset want other versions of the same packages: a virtual environment (1 GB in all) for each.
test-bi: setup chromium .venvs/dbt/.installed .venvs/superset/.installed
	SPARKRULES_TEST_BI=1 SPARKRULES_PICTURES=$(PICTURES) $(BIN)/python -m pytest -rP tests/bi

.venvs/dbt/.installed .venvs/superset/.installed: .venvs/%/.installed: tests/bi/requirements-%.txt
	@test -x .venvs/$*/bin/python || $(PYTHON) -m venv .venvs/$*
	.venvs/$*/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

chromium:
	@sh tests/bi/ensure_chromium.sh

clean:
	rm -rf build dist spark-warehouse metastore_db derby.log artifacts .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find sparkrules tests jars docs -name __pycache__ -type d -prune -exec rm -rf {} +
