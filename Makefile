# Everything a developer runs. `make help` lists it.

GO       ?= go
FUZZTIME ?= 1m
BENCH    ?= .
COUNT    ?= 6
FIGURES  ?= bin/bench.txt

# Packages whose tests also run under the race detector: all that is shared by goroutines and deploys.
RACE ?= ./core/... ./agency/...
# Explorations: each runs a flow once for every point at which it can be cut. In them one worker acts at a time.
EXPLORATIONS := TestWhereverItIsCutOff|WhereverItBreaks|TestWhoever|TestWhateverHappens|Explor

# Tools that are not Go live outside of the project. The version is in the path: a new one is installed beside the old one.
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/steadfast/tools
SAM   := $(TOOLS)/aws-sam-cli-1.170.0-cfn-lint-1.58.0
RIE   := $(TOOLS)/aws-lambda-rie-v0.0.0-20261030222936-bef5c4ba774d

.DEFAULT_GOAL := help
.PHONY: help run demo build test check lint fmt vet staticcheck skills tidy race explore test-interop test-browser test-aws test-sam-local soak bench update clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## start everything on this machine, show a conversation and a task, stay up
	@bin/steadfast dev --tour

demo: build ## the same, and end with status 0 when all of it worked
	@bin/steadfast dev --demo

build: ## the command line, to bin/steadfast
	@$(GO) build -o bin/steadfast ./cmd/steadfast

test: ## every test that needs nothing but Go
	$(GO) test ./...

check: lint tidy race ## gofmt, vet, staticcheck, a tidy go.mod, the race detector

lint: fmt vet staticcheck skills ## gofmt, vet, staticcheck and the form of the skills alone

fmt:
	@files=$$(gofmt -l $(wildcard agency agent cmd core functions internal *.go)); \
	if [ -n "$$files" ]; then echo "gofmt -w these:"; echo "$$files"; exit 1; fi

vet:
	$(GO) vet ./...

staticcheck:
	$(GO) tool staticcheck ./...

skills: ## hold agent/skills against the format
	$(GO) run ./cmd/steadfast skills validate

tidy: ## show what go mod tidy would change; nothing is changed
	$(GO) mod tidy -diff

race: ## the tests of core and agency but the explorations under the race detector, which needs a C compiler
	@command -v $$($(GO) env CC) >/dev/null || { echo "race: no C compiler ($$($(GO) env CC)); set CC"; exit 1; }
	CGO_ENABLED=1 $(GO) test -race -timeout 20m -skip '$(EXPLORATIONS)' $(RACE)

test-interop: ## beside the TypeScript package, on one table and bus; needs Node 20 and npm
	cd internal/interop/testdata/program && npm ci --loglevel=error
	STEADFAST_INTEROP=1 $(GO) test -count=1 -v ./internal/interop/

test-browser: ## the JavaScript client, in Node and in headless Chromium; needs Node 20 and npm, and Chromium, or Debian and root
	@{ test -n "$$STEADFAST_CHROMIUM" || command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get && apt-get -qq update && \
	DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends chromium; } >/dev/null || \
	echo 'no Chromium could be installed: the page is not tested'
	cd internal/browser/testdata/program && npm ci --loglevel=error
	STEADFAST_BROWSER=1 $(GO) test -count=1 -v -timeout 20m ./internal/browser/

test-aws: $(SAM)/installed $(RIE)/aws-lambda-rie ## with SAM's tools and AWS's Lambda emulator; needs Python 3 and, the first time, PyPI
	STEADFAST_SAM=$(SAM) STEADFAST_RIE=$(RIE)/aws-lambda-rie $(GO) test -count=1 -v -timeout 20m -skip SamLocal ./internal/rehearsal $(UPDATE)

test-sam-local: $(SAM)/installed $(RIE)/aws-lambda-rie ## every function in a container by sam local; needs docker, or dockerd and root
	STEADFAST_SAM=$(SAM) STEADFAST_RIE=$(RIE)/aws-lambda-rie STEADFAST_CONTAINERS=1 $(GO) test -count=1 -v -timeout 20m -run SamLocal ./internal/rehearsal

$(SAM)/installed:
	python3 -m venv --clear $(SAM)
	$(SAM)/bin/pip install --quiet --disable-pip-version-check aws-sam-cli==1.170.0 cfn-lint==1.58.0
	touch $@

$(RIE)/aws-lambda-rie:
	GOFLAGS= CGO_ENABLED=0 GOBIN=$(RIE) $(GO) install github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@$(patsubst aws-lambda-rie-%,%,$(notdir $(RIE)))

explore: ## crash and race exploration: what was explored, flow by flow
	@$(GO) test -count=1 -v -run '$(EXPLORATIONS)' ./core/loop ./core/flow ./core/turn ./agency ./agent \
		| awk '/explored |passed [0-9]+ tests|^(FAIL|ok)|--- FAIL/ { sub(/^ *[a-z_]+\.go:[0-9]+: /, ""); print } /^FAIL|--- FAIL/ { bad = 1 } END { exit bad }'

soak: ## what takes long: real waits, long explorations, then each fuzz test for FUZZTIME (1m)
	SOAK=1 $(GO) test -count=1 -timeout 2h $$(grep -rl --include='*_test.go' '"SOAK"' . | xargs -n1 dirname | sort -u)
	@set -e; grep -rn --include='*_test.go' -oE '^func Fuzz[A-Za-z0-9_]+' . | sort | while IFS=: read -r file _ func; do \
		name=$${func#func }; echo "== $$(dirname $$file) $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$(dirname $$file) </dev/null; \
	done

bench: $(RIE)/aws-lambda-rie ## every figure, as text for benchstat, also to FIGURES (bin/bench.txt); BENCH=regexp, COUNT=6
	@mkdir -p $(dir $(FIGURES))
	@STEADFAST_RIE=$(RIE)/aws-lambda-rie $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 1h \
		$$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n1 dirname | sort -u) | tee $(FIGURES)

update: ## write the golden files anew; look at the diff: a changed golden is a changed contract
	$(GO) test $$(grep -rlE --include='*_test.go' 'flag\.Bool\("update"' . | xargs -n1 dirname | sort -u) -update

clean: ## remove what was built
	rm -rf bin .aws-sam
