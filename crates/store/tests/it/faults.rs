//! Faults of the object store.
