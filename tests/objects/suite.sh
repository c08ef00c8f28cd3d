#!/usr/bin/env bash
# What must hold on every object store, on the one that STONECROP_OBJECTS names.
set -euo pipefail
cd "$(dirname "$0")/../.."
# Every request goes over a socket here: fewer sequences of the model, and no store of 256 shards.
PROPTEST_CASES=${PROPTEST_CASES:-20} cargo test -p stonecrop-store -p stonecrop-crash-tests \
  --features stonecrop-store/slatedb --test it -- conformance:: model:: objects:: object_storage paused \
  --skip shards_are_apart
