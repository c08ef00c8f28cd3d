#!/usr/bin/env bash
# What must hold on every object store, on the one that STONECROP_OBJECTS names. Built as all other
# tests are, so that nothing is built twice.
set -euo pipefail
cd "$(dirname "$0")/../.."
# Every request goes over a socket here: fewer sequences of the model, and no store of 256 shards.
PROPTEST_CASES=${PROPTEST_CASES:-20} cargo test --workspace --all-features --test it -- \
  conformance:: every_engine_does objects:: object_storage paused --skip shards_are_apart
