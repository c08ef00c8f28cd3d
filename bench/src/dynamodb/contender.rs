//! Who is measured: servers that answer DynamoDB's protocol.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use clap::ValueEnum;

use crate::http::{self, Kind};
use crate::process::{Running, free_address};

/// A column of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Contender {
    Stonecrop,
    StonecropInMemory,
    Dynoxide,
    DynoxideInMemory,
    Fakecloud,
    FakecloudInMemory,
    Dynalite,
    DynaliteInMemory,
    Moto,
    Ministack,
}

/// What is left of an acknowledged write when the machine loses its power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// All: it was synced before the answer.
    Synced,
    /// What the kernel happened to write.
    Unsynced,
    /// Nothing.
    InMemory,
}

impl Keeps {
    pub(super) fn title(self) -> &'static str {
        match self {
            Keeps::Synced => "on disk, each write synced before its answer",
            Keeps::Unsynced => "on disk, writes not synced",
            Keeps::InMemory => "in memory",
        }
    }
}

use Contender::*;

impl Contender {
    /// In the order of the report.
    pub(super) const ALL: [Contender; 10] = [
        Stonecrop,
        StonecropInMemory,
        Dynoxide,
        DynoxideInMemory,
        Fakecloud,
        FakecloudInMemory,
        Dynalite,
        DynaliteInMemory,
        Moto,
        Ministack,
    ];
    pub(super) const OURS: [Contender; 2] = [Stonecrop, StonecropInMemory];

    pub(super) fn is_ours(self) -> bool {
        Contender::OURS.contains(&self)
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Stonecrop => "stonecrop",
            StonecropInMemory => "stonecrop, memory",
            Dynoxide => "dynoxide",
            DynoxideInMemory => "dynoxide, memory",
            Fakecloud => "fakecloud",
            FakecloudInMemory => "fakecloud, memory",
            Dynalite => "dynalite",
            DynaliteInMemory => "dynalite, memory",
            Moto => "moto",
            Ministack => "ministack",
        }
    }

    /// As strace saw it; docs/benchmarks.md has the command.
    pub(super) fn keeps(self) -> Keeps {
        match self {
            Stonecrop | Dynoxide | Fakecloud => Keeps::Synced,
            Dynalite => Keeps::Unsynced,
            _ => Keeps::InMemory,
        }
    }

    /// The colours differ from each other for the colour-blind too.
    pub(super) fn colour(self) -> &'static str {
        match self {
            Stonecrop => "#00795a",
            StonecropInMemory => "#7ec8b0",
            Dynoxide => "#a3500b",
            DynoxideInMemory => "#e69f00",
            Fakecloud => "#7b3294",
            FakecloudInMemory => "#c2a5cf",
            Dynalite => "#1f6fa8",
            DynaliteInMemory => "#8cc6ee",
            Moto => "#52606d",
            Ministack => "#cc79a7",
        }
    }

    /// The program of a peer, which `make bench-peers` puts there.
    fn program(self, peers: &Path) -> PathBuf {
        peers.join(match self {
            Dynoxide | DynoxideInMemory => "bin/dynoxide",
            Fakecloud | FakecloudInMemory => "bin/fakecloud",
            Dynalite | DynaliteInMemory => "dynalite/node_modules/.bin/dynalite",
            Moto => "moto/bin/moto_server",
            _ => "ministack/bin/ministack",
        })
    }

    pub(super) fn is_installed(self, peers: &Path) -> bool {
        self.is_ours() || self.program(peers).exists()
    }

    /// Starts it with an empty database in a folder.
    pub(super) fn start(self, program: &Path, peers: &Path, folder: &Path) -> Result<Running> {
        let data = folder.join("data");
        match self {
            Stonecrop => return http::start(program, Kind::Empty, &data, 0),
            StonecropInMemory => return http::start(program, Kind::Empty, Path::new("memory:"), 0),
            _ => {}
        }
        let address = free_address()?;
        let (host, port) = (address.ip().to_string(), address.port().to_string());
        let mut command = Command::new(self.program(peers));
        command.current_dir(folder);
        match self {
            Moto => command.args(["-H", &host, "-p", &port]),
            Fakecloud | FakecloudInMemory => {
                command.args(["--addr", &address.to_string(), "--log-level", "warn"])
            }
            Ministack => command
                .envs([("BIND_HOST", &host), ("GATEWAY_PORT", &port)])
                .env("LOG_LEVEL", "WARNING"),
            _ => command.args(["--host", &host, "--port", &port]),
        };
        match self {
            Dynoxide => command.arg("--db-path").arg(&data),
            Fakecloud => command.args(["--storage-mode", "persistent", "--data-path"]).arg(&data),
            Dynalite => command.arg("--path").arg(&data),
            _ => &mut command,
        };
        // Without it a table is half a second in the making.
        if matches!(self, Dynalite | DynaliteInMemory) {
            command.args(["--createTableMs", "1"]);
        }
        Running::at(address, &mut command, &folder.join("log"))
    }
}
