# Everything that a newcomer, a developer or CI calls.

.PHONY: demo setup test test-all check quick every slow versions audit bench kernels wheel release docs clean

demo: ## set everything up and check an example that ships with the project
	@scripts/setup user
	@scripts/demo

setup: ## the environment of all that follows
	@scripts/setup
	@scripts/setup-optional

test: setup ## five to ten minutes: lint, types, import contract, the quick tests
	@$(MAKE) --no-print-directory --jobs=2 check quick

test-all: setup ## twenty to fifty minutes: the same with all examples, and the thorough tests
	@$(MAKE) --no-print-directory --jobs=2 check every

check: ## the part of `test` that runs nothing
	@scripts/setup
	@scripts/check

quick: ## the part of `test` that runs: a tenth of the examples
	@scripts/setup
	@scripts/test -m 'not slow and not thorough' --hypothesis-profile=quick

every: ## the part of `test-all` that runs, each file in another order than it is written in
	@scripts/setup
	@scripts/test --shuffled=1

slow: ## thousands of random cases
	@scripts/setup
	@scripts/test -m slow --hypothesis-profile=others

versions: setup ## the quick tests with the lowest and the newest dependencies
	@scripts/test-versions lowest -m 'not slow and not thorough' --hypothesis-profile=quick
	@scripts/test-versions newest -m 'not slow and not thorough' --hypothesis-profile=quick

audit: setup ## known vulnerabilities of the dependencies
	@scripts/audit

bench: ## measure the tables of results/ that are older than the code (all: twelve hours)
	@scripts/setup
	@scripts/setup-optional
	@.venv/bin/python scripts/kernels.py
	@.venv/bin/python -m benchmarks.everything
	@.venv/bin/python scripts/figures.py

kernels: ## those of common searches, compiled for this installation (two minutes)
	@scripts/setup user
	@.venv/bin/python scripts/kernels.py

wheel: ## in dist/, with the kernels, for this Python and Linux on x86-64
	@scripts/setup
	@.venv/bin/python scripts/kernels.py
	@.venv/bin/python -m build --wheel --no-isolation

release: setup ## wheel, with the kernels, and sdist of the last commit: in dist/, built twice and compared
	@.venv/bin/python scripts/kernels.py
	@scripts/release

docs: ## the documentation site, in site/
	@scripts/setup
	@scripts/docs

clean:
	rm -rf .venv .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis dist site ltlpipe/runtime/kernels/compiled
