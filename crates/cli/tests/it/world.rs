//! A folder of its own for each test, and a server on one.

use std::path::PathBuf;
use std::process::Command;

use stonecrop::Database;
use stonecrop_server::{Config, Scope, Server, Tokens};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::{Run, finish, stonecrop};

/// Where a test works, and the database that its commands are about.
pub(crate) struct World {
    folder: TempDir,
    database: String,
    /// Answers as long as it is there.
    _server: Option<Runtime>,
}

impl World {
    /// With a folder that is no database yet.
    pub(crate) fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("data").to_str().unwrap().to_owned();
        World { folder, database, _server: None }
    }

    /// With a place on object storage where there is no database yet: in a folder, unless
    /// `STONECROP_OBJECTS` says where objects are stored.
    pub(crate) fn objects() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = match std::env::var("STONECROP_OBJECTS") {
            Ok(objects) => {
                let (base, settings) = objects.split_once('?').unwrap_or((&objects, ""));
                let name = folder.path().file_name().unwrap().to_str().unwrap();
                format!("{base}/{}?{settings}", name.trim_start_matches('.'))
            }
            Err(_) => format!("file://{}/objects?engine=slatedb", folder.path().display()),
        };
        World { folder, database, _server: None }
    }

    /// Where its database is.
    pub(crate) fn location(&self) -> &str {
        &self.database
    }

    /// With a server on an empty database.
    pub(crate) fn server() -> Self {
        Self::server_for(None)
    }

    /// With a server that asks for tokens, and one that may only read.
    pub(crate) fn guarded_server() -> (Self, String) {
        let (token, line) = Tokens::create(Scope::Read, "a test");
        (Self::server_for(Some(line.parse().unwrap())), token)
    }

    fn server_for(tokens: Option<Tokens>) -> Self {
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let database = format!("http://{}", listener.local_addr().unwrap());
        let config = Config { location: "memory:".to_owned(), tokens, ..Config::default() };
        let server = Server::new(Database::memory(), config);
        runtime.spawn(server.serve(listener, None, std::future::pending()));
        World { folder: tempfile::tempdir().unwrap(), database, _server: Some(runtime) }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = stonecrop(arguments);
        command.env("STONECROP_DATABASE", &self.database).current_dir(self.folder.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        finish(self.command(arguments))
    }

    /// What a run in which nothing was wrong printed.
    #[track_caller]
    pub(crate) fn good(&self, arguments: &[&str]) -> String {
        self.run(arguments).good()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// With a table of three people.
    pub(crate) fn with_people(self) -> Self {
        let family = "crm: name string, age int, city string";
        self.good(&["table", "create", "people", "--key", "id u64", "--family", family]);
        for (id, name, age, city) in
            [("1", "Ann", "41", "Bern"), ("2", "Bob", "37", "Basel"), ("3", "Eve", "29", "Bern")]
        {
            let columns = [format!("name={name}"), format!("age={age}"), format!("city={city}")];
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            self.good(&[&["put", "people", id], &columns[..]].concat());
        }
        self
    }
}
