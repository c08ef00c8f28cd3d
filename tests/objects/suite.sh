#!/usr/bin/env bash
# What must hold on every object store, on the one that STONECROP_OBJECTS names.
set -euo pipefail
cd "$(dirname "$0")/../.."
# Every request goes over a socket here, so there are fewer sequences of the model.
PROPTEST_CASES=${PROPTEST_CASES:-60} cargo test -p stonecrop-store -p stonecrop-crash-tests \
  --features stonecrop-store/slatedb --test it -- conformance:: model:: objects:: object_storage paused
