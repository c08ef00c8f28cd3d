//! What a server may be asked to do, and how much of it at a time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use stonecrop_cluster::ClusterStore;

use crate::access_keys::AccessKeys;
use crate::auth::Tokens;
use crate::serve::ServeError;

/// How a server behaves.
///
/// ```
/// use stonecrop_server::Config;
/// let config = Config { location: "./data".to_owned(), ..Config::default() };
/// assert!(config.tokens.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Where the database is; only told to those who ask.
    pub location: String,
    /// Who may do what; without these and access keys everybody may do everything.
    pub tokens: Option<Tokens>,
    /// Whose signatures are accepted at DynamoDB's door, and there alone.
    pub access_keys: Option<AccessKeys>,
    /// Whether to answer whatever name the client knows the server by. Otherwise, without tokens
    /// and access keys, only addresses and `localhost` are: a page elsewhere can't reach it under a
    /// name of its own.
    pub any_host: bool,
    /// The sites whose pages may ask at DynamoDB's door, as `http://example.com`, or `*` for all.
    /// Without any, all may where a request needs a token or a signature, and otherwise none.
    pub cors_origins: Vec<String>,
    /// How long items stay after the time in their time-to-live attribute, through DynamoDB's door.
    pub dynamodb_ttl_delay: Duration,
    /// Where copies of the database are made when a client asks for one; without it none is.
    pub backups: Option<String>,
    /// How much is too much.
    /// The nodes that share the database, of which this one is one.
    pub cluster: Option<Arc<ClusterStore>>,
    /// How much is allowed.
    pub limits: Limits,
}

impl Config {
    /// Whether a server may listen there: others can reach the address only with tokens or access
    /// keys, or if everybody may come.
    ///
    /// ```
    /// let config = stonecrop_server::Config::default();
    /// assert!(config.check_address("127.0.0.1:8321".parse().unwrap()).is_ok());
    /// assert!(config.check_address("0.0.0.0:8321".parse().unwrap()).is_err());
    /// ```
    pub fn check_address(&self, address: SocketAddr) -> Result<(), ServeError> {
        match address.ip().is_loopback() || self.asks_who() || self.any_host {
            true => Ok(()),
            false => Err(ServeError::Exposed { address }),
        }
    }

    /// Whether a request needs a token or a signature.
    pub(crate) fn asks_who(&self) -> bool {
        self.tokens.is_some() || self.access_keys.is_some()
    }
}

/// How much is too much.
///
/// ```
/// assert_eq!(stonecrop_server::Limits::default().body_bytes, 16 << 20);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The body of a request, imports aside.
    pub body_bytes: usize,
    /// A line of an import.
    pub line_bytes: usize,
    /// The head of a request.
    pub header_bytes: usize,
    /// How long the head of a request may take to arrive.
    pub header_time: Duration,
    /// How many requests are worked on at a time.
    pub requests: usize,
    /// How long further ones wait for their turn.
    pub requests_wait: Duration,
    /// How many clients wait for changes at a time; they take no turn of a request.
    pub followers: usize,
    /// How many connections there are at a time.
    pub connections: usize,
    /// How long a request may take, those aside that take as long as there is work.
    pub request_time: Duration,
    /// How long a client may send or take nothing while it is its turn.
    pub idle_time: Duration,
    /// How long a server that was told to stop waits for what it has begun.
    pub shutdown_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body_bytes: 16 << 20,
            line_bytes: 1 << 20,
            header_bytes: 16 << 10,
            header_time: Duration::from_secs(10),
            requests: 512,
            requests_wait: Duration::from_secs(1),
            followers: 1_024,
            connections: 8_192,
            request_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(30),
            shutdown_time: Duration::from_secs(30),
        }
    }
}
