//! What the machine has.

use std::fs;

/// What a container may use of the machine's memory, in bytes; "max" for all of it.
const LIMIT: &str = "/sys/fs/cgroup/memory.max";

/// How much memory there is for programs, in bytes.
pub(crate) fn memory() -> u64 {
    let machine = rustix::system::sysinfo();
    let installed = (machine.totalram as u64).saturating_mul(u64::from(machine.mem_unit));
    limited(installed, fs::read_to_string(LIMIT).ok().as_deref())
}

fn limited(installed: u64, limit: Option<&str>) -> u64 {
    let limit = limit.and_then(|text| text.trim().parse().ok());
    limit.map_or(installed, |limit: u64| limit.min(installed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_no_more_than_it_is_allowed() {
        assert_eq!(limited(1_000, None), 1_000);
        assert_eq!(limited(1_000, Some("max\n")), 1_000);
        assert_eq!(limited(1_000, Some("300\n")), 300);
        assert_eq!(limited(1_000, Some("3000\n")), 1_000);
        assert!(memory() > 1 << 20);
    }
}
