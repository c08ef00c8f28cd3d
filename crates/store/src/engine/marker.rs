//! The text that marks a place as a store's: its format, its engine, its shards, and on object storage
//! what tells it from all others.

use crate::error::{Error, ErrorKind, Result};

/// docs/format.md tells what each version added.
pub(crate) const VERSION: u32 = 2;
/// What the file or object is called.
pub(crate) const NAME: &str = "STONECROP";
const CHECK: &str = "check ";

pub(crate) fn check_shards(shards: u16) -> Result<()> {
    if (1..=256).contains(&shards) {
        return Ok(());
    }
    Err(Error::invalid(format!("{shards} shards, and a store has 1 to 256")))
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// The version of the format.
    pub(crate) version: u32,
    pub(crate) shards: u16,
    /// What no other store has.
    pub(crate) id: Option<String>,
}

pub(crate) fn text(engine: &str, shards: u16, id: Option<&str>) -> String {
    let mut marker = format!("stonecrop {VERSION}\nengine {engine}\nshards {shards}\n");
    if let Some(id) = id {
        marker += &format!("id {id}\n");
    }
    marker += &check_line(&marker);
    marker
}

/// The last line of the marker: the CRC-32 of those before.
fn check_line(body: &str) -> String {
    format!("{CHECK}{:08x}\n", crc32fast::hash(body.as_bytes()))
}

pub(crate) fn parse(place: &str, text: &str, engine: &str) -> Result<Marker> {
    let value = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    };
    let damaged = |what: &str| Error::new(ErrorKind::Corrupt, format!("{place}: {what}"));
    let version: u32 = value("stonecrop")
        .and_then(|version| version.parse().ok())
        .ok_or_else(|| damaged("it does not say which version of Stonecrop wrote it"))?;
    if version > VERSION {
        return Err(Error::new(
            ErrorKind::Version,
            format!(
                "{place} was written in format {version}, and this program reads formats up to \
                 {VERSION}; use a newer one",
            ),
        ));
    }
    let body = text.rsplit_once(CHECK).map_or(text, |(body, _)| body);
    if text.strip_prefix(body) != Some(&check_line(body)) {
        return Err(damaged("its checksum differs; restore it from a backup"));
    }
    match value("engine") {
        Some(found) if found == engine => {}
        found => {
            return Err(damaged(&format!(
                "the engine is {}, and it was opened as {engine}",
                found.unwrap_or("missing")
            )));
        }
    }
    let shards = value("shards").and_then(|shards| shards.parse().ok());
    let shards = shards
        .filter(|shards| (1..=256).contains(shards))
        .ok_or_else(|| damaged("it does not say how many shards there are, 1 to 256"))?;
    Ok(Marker { version, shards, id: value("id").map(str::to_owned) })
}
