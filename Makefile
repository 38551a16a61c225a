# Every target sets up .venv by itself; a second run reinstalls nothing.
PYTHON ?= $(shell command -v python3 || command -v python || echo python3)
RUN = @$(PYTHON) bootstrap.py

.DEFAULT_GOAL := help
.PHONY: help lab test quick doctor progress exercises notebooks check audit slides handouts site site-test links pictures lint format wheels lock benchmark benchmark-peers clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' Makefile

lab:  ## open the course in JupyterLab
	$(RUN) lab

test:  ## run every test, or those that ARGS names: make test ARGS="-k momentum"
	$(RUN) test $(ARGS)

quick: lint  ## lint and unit tests: no browser, no notebook, no kernel, no sandbox
	$(RUN) test -n auto -m "not slow" tests $(ARGS)

doctor:  ## look at this machine and say what is missing
	$(RUN) course doctor

progress:  ## your points so far, as saved in exercises/
	$(RUN) course progress

exercises:  ## generate exercises/ from solutions/
	$(RUN) course release

notebooks:  ## execute notebooks/ and solutions/ again and save them clean
	$(RUN) course execute

check:  ## run lectures and solutions under nbval and print a table
	$(RUN) course check

audit:  ## change right answers a little and tell what the checks still call right
	$(RUN) dev course audit

slides:  ## write the lectures as slides that work offline, into build/slides
	$(RUN) dev course slides

handouts:  ## write lectures and blank exercises for print, into build/handouts
	$(RUN) dev course handout

site:  ## write the course as a web site with Python in it, into build/site
	$(RUN) dev course site $(ARGS)

site-test:  ## run lectures, solutions and known mistakes with the browser's Python, in node
	$(RUN) dev python -m classroom.site.proof $(ARGS)

links:  ## write links, titles, points and maps anew from the table of units
	$(RUN) course links
	$(RUN) course release

pictures:  ## take the README's pictures anew, in a real JupyterLab
	$(RUN) dev python docs/pictures.py

lint:  ## look at format, style and types of the code; changes no file
	$(RUN) dev ruff format --check --quiet .
	$(RUN) dev ruff check --quiet .
	$(RUN) dev mypy

format:  ## format the code, and mend what ruff can mend
	$(RUN) dev ruff format .
	$(RUN) dev ruff check --fix .

wheels:  ## build the wheels of machine, course and classroom, into dist/
	$(RUN) dev python -m build --quiet --outdir dist selfcheck
	$(RUN) dev python -m build --quiet --outdir dist .
	$(RUN) dev python -m build --quiet --outdir dist classroom

COMPILE = -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-header --no-emit-package course-utils --no-emit-package selfcheck pyproject.toml
lock:  ## resolve both projects again into the lock files
	$(RUN) dev python $(COMPILE) -o requirements.lock
	$(RUN) dev python $(COMPILE) classroom/pyproject.toml --all-extras \
		--group classroom/pyproject.toml:dev -c requirements.lock -o requirements-dev.lock

benchmark:  ## measure, and write docs/benchmarks.md; one part: make benchmark ARGS=checks
	$(RUN) dev python -m benchmarks $(ARGS)

benchmark-peers:  ## the same beside PyTorch, SciPy, POT, nbgrader, otter-grader and ipympl
	$(RUN) dev python -m benchmarks --peers $(ARGS)

clean:  ## remove .venv and caches
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis build dist
