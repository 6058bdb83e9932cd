# Everything that a newcomer, a developer or CI calls.

.PHONY: demo test check slow bench docs clean

demo: ## set everything up and check an example that ships with the project
	@scripts/setup user
	@scripts/demo

test: ## lint, types, import contract, tests
	@scripts/setup
	@scripts/setup-optional
	@scripts/check
	@scripts/test

check: ## the part of `test` that runs nothing
	@scripts/setup
	@scripts/check

slow: ## thousands of random cases
	@scripts/setup
	@scripts/test -m slow --hypothesis-profile=others

bench: ## regenerate results/ (more than an hour)
	@scripts/setup
	@scripts/setup-optional
	@scripts/bench

docs: ## the documentation site, in site/
	@scripts/setup
	@scripts/docs

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis dist site
