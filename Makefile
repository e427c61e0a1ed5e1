# tidemark: everything that a developer or CI runs, by name.
GO ?= go

# The properties draw the same cases each time, so that a change which passes here
# passes everywhere; soak draws others.
export RAPID_SEED ?= 1

.DEFAULT_GOAL := help
.PHONY: help build test race lint demo determinism golden interop conformance crash bench fuzz soak

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./tidemark
	$(GO) build -o tidemark ./cmd/tidemark

test: ## run every test, simlint among them
	$(GO) vet ./...
	$(GO) test ./...

race: ## run the tests of the concurrent packages under the race detector
	$(GO) test -race ./disk/osdisk ./net/tcp ./node/live

lint: ## check the import table, determinism of the core, formatting
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) run ./cmd/simlint

demo: build ## lose an acknowledged record under the rule before Kafka 0.11, keep it under today's
	./tidemark run R1 --seed 1 --rules truncate=toHW --plot out/R1-truncate-toHW
	./tidemark run R1 --seed 1 --plot out/R1-current

determinism: ## run stories and random seeds twice, with opposed settings and as wasm: equal digests
	@./.ci/determinism

golden: ## rewrite the golden output of the stories
	$(GO) run ./cmd/tidemark run all --rewrite scenarios/stories

interop: ## run franz-go, librdkafka and kcat against tidemark serve
	@./.ci/interop 10000

conformance: ## tidemark's files before Apache Kafka, and Kafka's before tidemark (JDK 17, Maven)
	@./net/interop/apache/conformance.sh

crash: ## crash every workload of up to three operations of the log engine everywhere, and a process on real files
	$(GO) test ./node/storage -disk=simdisk -v -timeout 30m -run 'TestEveryCrashOfEveryShortWorkload$$|SIGKILL' -crash.depth 3 -kill.lives 60
	$(GO) test ./node/storage -disk=osdisk -disk.fsync -timeout 30m

bench: ## benchmarks, then events per second of the simulator, then the log engine beside the machine
	$(GO) test -run '^$$' -bench . ./...
	$(GO) run ./cmd/tidemark bench sim
	$(GO) run ./cmd/tidemark bench storage

soak: ## draw 1,000 new cases for every property, judge 500,000 random histories by the near-linear checks and by search
	RAPID_SEED=0 RAPID_CHECKS=1000 $(GO) test ./... -timeout 120m
	$(GO) test ./checker -run 'AgreesWith|AgreeWith' -timeout 60m -histories 500000 -registers 240000

fuzz: ## fuzz every decoder for two minutes each, those of sockets for five
	@./.ci/fuzz 120s 300s
