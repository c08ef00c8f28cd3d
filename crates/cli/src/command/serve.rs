//! `stonecrop serve`: a database behind HTTP.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stonecrop::{Database, Durability, Options};
use stonecrop_cluster::ClusterStore;
use stonecrop_server::api::Lasting;
use stonecrop_server::{AccessKeys, Config, Server, Tls, Tokens};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

use super::heading;
use crate::error::{Error, Result};
use crate::machine;
use crate::session::Session;

/// How often it is looked whether the database can still be used.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long there is to tell clients that it can't, before the server ends.
const LAST_WORDS: Duration = Duration::from_millis(500);

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop serve
  stonecrop serve ./data --listen 127.0.0.1:9000
  stonecrop serve ./data --listen 0.0.0.0:8321 --token-file tokens
  stonecrop serve ./data --listen 0.0.0.0:8321 --access-key-file access-keys
  stonecrop serve memory: --log json
  stonecrop serve s3://bucket/path
  stonecrop serve 's3://bucket/path?endpoint=http://127.0.0.1:8333' --flush-interval 10ms
  stonecrop serve --read-only s3://bucket/path --listen 127.0.0.1:8322
  stonecrop serve s3://bucket/path --cluster etcd://127.0.0.1:2379 --listen 127.0.0.1:8323

A token file has a token a line: its scope (read, write or admin), its SHA-256 in hex, and whose it
is. \"stonecrop token write importer --file tokens\" makes a token and adds its line.

An access key file is for AWS's clients, and has a key a line: its scope, its id, its secret, and
whose it is. \"stonecrop access-key write importer --file access-keys\" makes one. Nobody else may
read the file.

On object storage (s3://, gs://, az://, file:///path?engine=slatedb) the credentials are those of the
usual environment and profiles; ?endpoint=, ?region= and ?path_style= say the rest. A server that is
started where another one has the database takes it over, and the other stops."
);

const LEAST_CACHE_BYTES: u64 = 256 << 20;

/// Answers HTTP: the JSON API, the grid, metrics
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The folder of the database, which is made if need be; "memory:"; or a place on object
    /// storage: s3://bucket/path, gs://bucket/path, az://container/path, file:///path?engine=slatedb
    #[arg(default_value = "./data")]
    location: String,
    #[command(flatten)]
    pub(super) listening: Listening,
    /// When a write is answered, unless it says itself: when it is on disk, or earlier
    #[arg(long, value_name = "LEVEL", default_value = "sync")]
    durability: Level,
    /// How much memory may hold what was read from the files: without, an eighth of what there is, and
    /// 256 at least
    #[arg(long, value_name = "MIB")]
    cache: Option<u64>,
    /// Where "stonecrop backup" makes its copies: a folder, or a place on object storage
    #[arg(long, value_name = "LOCATION")]
    backups: Option<String>,
    #[command(flatten)]
    objects: Objects,
    #[command(flatten)]
    cluster: Cluster,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Several nodes")]
struct Cluster {
    /// Share the database with other nodes: the members of etcd, as etcd://host:port,host:port
    #[arg(long, value_name = "ETCD", conflicts_with = "read_only")]
    cluster: Option<String>,
    /// Where this node listens to the other nodes; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    cluster_listen: SocketAddr,
    /// How the other nodes reach that, if it is by another name
    #[arg(long, value_name = "HOST:PORT")]
    cluster_address: Option<String>,
    /// A file with a secret that all nodes have; they may do without one on loopback alone
    #[arg(long, value_name = "FILE")]
    cluster_secret_file: Option<PathBuf>,
    /// How long a node is waited for that does not answer
    #[arg(long, value_name = "TIME", default_value = "3s")]
    cluster_lease: Lasting,
}

/// What concerns object storage.
#[derive(clap::Args)]
#[command(next_help_heading = "Object storage")]
struct Objects {
    /// Only read, and follow what another server writes
    #[arg(long)]
    read_only: bool,
    /// The parts of a database that is made here, 1 to 256: 16 without, and 1 in a folder
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    shards: Option<u16>,
    /// How often the log is uploaded for synced writes, at most: one that comes sooner waits
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    flush_interval: Lasting,
    /// Leave it to `stonecrop compactor` to compact and to remove files
    #[arg(long)]
    no_compaction: bool,
    /// A folder that keeps what was read
    #[arg(long, value_name = "FOLDER")]
    cache_folder: Option<PathBuf>,
    /// How large it may become
    #[arg(long, value_name = "MIB", default_value_t = 16 << 10)]
    cache_folder_size: u64,
}

/// Where to listen, and to whom.
#[derive(clap::Args)]
pub(super) struct Listening {
    /// The address to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8321")]
    listen: SocketAddr,
    /// The tokens that clients need
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The access keys that AWS's clients sign with
    #[arg(long, value_name = "FILE")]
    access_key_file: Option<PathBuf>,
    /// Let everybody do everything, on whatever address
    #[arg(long, conflicts_with_all = ["token_file", "access_key_file"])]
    insecure_no_auth: bool,
    /// A site whose pages may speak DynamoDB's protocol (scheme, name and port), or "*" for all; can
    /// be given several times. Without it, all may where there are tokens or access keys, and
    /// otherwise none
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    cors_origin: Vec<String>,
    /// The certificates for TLS, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// Their private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// How long a request may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
    /// How many requests are worked on at a time
    #[arg(long, value_name = "COUNT", default_value_t = 512)]
    requests: usize,
    /// How long items stay after the time in their time-to-live attribute, as 48h: DynamoDB takes up
    /// to two days
    #[arg(long, value_name = "TIME", default_value = "0s")]
    dynamodb_ttl_delay: Lasting,
    /// How the log is written: a line of text or of JSON a request, on standard error
    #[arg(long, value_name = "FORM", default_value = "quiet")]
    log: Log,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Level {
    Sync,
    Interval,
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Log {
    /// Only what goes wrong.
    Quiet,
    Text,
    Json,
}

impl Cluster {
    fn options(&self, listening: &Listening) -> Result<Option<stonecrop_cluster::Options>> {
        let Some(etcd) = &self.cluster else { return Ok(None) };
        let secret = match &self.cluster_secret_file {
            None => String::new(),
            Some(file) => std::fs::read_to_string(file)
                .map_err(|error| Error::Serve(format!("the secret {}: {error}", file.display())))?,
        };
        Ok(Some(stonecrop_cluster::Options {
            etcd: etcd.clone(),
            door: self.cluster_listen,
            advertise: self.cluster_address.clone(),
            address: listening.listen.to_string(),
            secret: secret.trim().to_owned(),
            lease: self.cluster_lease.0.max(Duration::from_secs(1)),
        }))
    }
}

fn cache_bytes(mebibytes: Option<u64>) -> u64 {
    mebibytes.map_or_else(|| (machine::memory() / 8).max(LEAST_CACHE_BYTES), |cache| cache << 20)
}

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let mut door = Door::open(&arguments.listening, session)?;
    let durability = match arguments.durability {
        Level::Sync => Durability::Sync,
        Level::Interval => Durability::Interval,
        Level::None => Durability::None,
    };
    let objects = &arguments.objects;
    let mut options = Options::default()
        .durability(durability)
        .cache_bytes(cache_bytes(arguments.cache))
        .flush_interval(objects.flush_interval.0)
        .compacts(!objects.no_compaction)
        .read_only(objects.read_only);
    if let Some(shards) = objects.shards {
        options = options.shards(shards);
    }
    if let Some(folder) = &objects.cache_folder {
        options = options.cache_folder(folder, objects.cache_folder_size << 20);
    }
    let mut joined = None;
    let database = match arguments.cluster.options(&arguments.listening)? {
        None => Database::open_with(&arguments.location, options),
        Some(cluster) => {
            let location = &arguments.location;
            let join = |options: &_| {
                let store = Arc::new(ClusterStore::join(location, options, &cluster)?);
                joined = Some(store.clone());
                Ok(store as _)
            };
            Database::open_in(join, options)
        }
    };
    let database = database.map_err(Error::Database)?;
    door.config.location = arguments.location.clone();
    door.config.backups = arguments.backups.clone();
    door.config.cluster = joined;
    door.serve(database, session)
}

/// Where clients come in, open before there is anything behind it: who can't listen must not take a
/// database from a server that can.
pub(super) struct Door {
    listener: std::net::TcpListener,
    tls: Option<Tls>,
    pub(super) config: Config,
}

impl Door {
    pub(super) fn open(listening: &Listening, session: &mut Session) -> Result<Self> {
        start_log(listening.log);
        allow_many_files();
        let tokens = listening.token_file.as_deref().map(Tokens::read).transpose();
        let access_keys = listening.access_key_file.as_deref().map(AccessKeys::read).transpose();
        let tls = match (&listening.tls_certificate, &listening.tls_key) {
            (Some(certificate), Some(key)) => Some(Tls::read(certificate, key)),
            _ => None,
        };
        let tls = tls.transpose().map_err(|error| Error::Serve(error.to_string()))?;
        let mut config = Config {
            tokens: tokens.map_err(Error::Serve)?,
            access_keys: access_keys.map_err(Error::Serve)?,
            any_host: listening.insecure_no_auth,
            cors_origins: listening.cors_origin.clone(),
            dynamodb_ttl_delay: listening.dynamodb_ttl_delay.0,
            ..Config::default()
        };
        config.limits.request_time = Duration::from_secs(listening.timeout.max(1));
        config.limits.requests = listening.requests.max(1);
        let address = listening.listen;
        config.check_address(address).map_err(|_| {
            Error::Serve(format!(
                "{address} can be reached by others: give --token-file or --access-key-file, or \
                 --insecure-no-auth if everybody may do everything"
            ))
        })?;
        let failed = |error| Error::Serve(format!("can't listen at {address}: {error}"));
        let listener = std::net::TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        if listening.insecure_no_auth {
            session
                .note("warning: no tokens: whoever reaches this address may read and change all");
        }
        if config.tokens.is_none() && config.access_keys.is_none() {
            session.note("no access keys: DynamoDB's clients may sign with any credentials");
            if !config.cors_origins.is_empty() {
                let sites = config.cors_origins.join(", ");
                session.note(&format!("warning: pages of {sites} may read and change all"));
            }
        }
        Ok(Door { listener, tls, config })
    }

    /// Serves a database until it is told to stop.
    pub(super) fn serve(self, database: Database, session: &mut Session) -> Result<()> {
        let Door { listener, tls, config } = self;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let location = config.location.clone();
        let failed = |error: std::io::Error| Error::Serve(error.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(failed)?;
        let server = Server::new(database.clone(), config);
        let failure = runtime.block_on(async {
            let address = listener.local_addr().map_err(failed)?;
            let listener = TcpListener::from_std(listener).map_err(failed)?;
            let stop = stop_signal().map_err(failed)?;
            writeln!(session.out(), "Stonecrop serves {location} at {scheme}://{address}")
                .and_then(|()| session.out().flush())
                .map_err(Error::Output)?;
            // There is nothing to finish for those who are still connected to what is gone.
            let gone = async {
                let failure = gone(&database).await;
                tokio::time::sleep(LAST_WORDS).await;
                failure
            };
            tokio::select! {
                ended = server.serve(listener, tls, stop) => {
                    ended.map_err(|error| Error::Serve(error.to_string()))?;
                    Ok::<_, Error>(database.failure())
                }
                failure = gone => Ok(Some(failure)),
            }
        })?;
        if let Some(failure) = failure {
            runtime.shutdown_background();
            return Err(Error::Database(failure));
        }
        drop(runtime);
        session.note("stopped; what was accepted is finished");
        database.close().map_err(Error::Database)
    }
}

/// Waits until nothing more can be done with a database, and why.
async fn gone(database: &Database) -> stonecrop::Error {
    loop {
        if let Some(failure) = database.failure() {
            return failure;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A site as browsers name it.
fn origin(text: &str) -> Result<String, String> {
    let is_site = text.split_once("://").is_some_and(|(scheme, host)| {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
        matches!(scheme, "http" | "https" | "chrome-extension" | "moz-extension")
            && !host.is_empty()
            && host.bytes().all(|byte| is_plain(byte) && !b"/?#@*,".contains(&byte))
    });
    match is_site || text == "*" {
        true => Ok(text.to_owned()),
        false => Err("a site is like http://example.com or https://example.com:8080, in small \
                      letters and without a path; * is all sites"
            .to_owned()),
    }
}

/// What tells the server to stop: the first of Ctrl-C and, on Unix, SIGTERM.
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// A connection is an open file, and so is each of the engine's: as many as the system lets us have.
fn allow_many_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut files = getrlimit(Resource::Nofile);
        files.current = files.maximum;
        // With fewer it works too, for fewer clients.
        let _ = setrlimit(Resource::Nofile, files);
    }
}

fn start_log(log: Log) {
    // What SlateDB has to say of its own tasks concerns nobody who did not ask; errors come back to us.
    let level = if log == Log::Quiet { "warn,slatedb=off" } else { "info,slatedb=warn" };
    let filter = EnvFilter::try_from_env("STONECROP_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second one in the same process would only be a test's.
    let _ = match log {
        Log::Json => subscriber.json().try_init(),
        Log::Quiet | Log::Text => subscriber.with_target(false).try_init(),
    };
}
