//! A server of its own for a test, and the official SDK as its client.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::{Client, Config};

/// Scope, id and secret of the keys that a server knows.
pub const KEYS: [[&str; 3]; 3] = [
    ["admin", "owner", "his-secret"],
    ["write", "writer", "her-secret"],
    ["read", "reader", "its-secret"],
];

/// The binary STONECROP_BIN, in memory, on a free port.
pub struct Server {
    child: Child,
    url: String,
    folder: PathBuf,
}

impl Server {
    /// Every request must be signed with one of [`KEYS`].
    pub fn start() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("stonecrop-sdk-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder for the access keys");
        let file = folder.join("access-keys");
        std::fs::write(&file, KEYS.map(|key| key.join(" ")).join("\n")).expect("access keys");
        let owner_alone = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, owner_alone).expect("permissions");
        let binary = std::env::var_os("STONECROP_BIN").expect("STONECROP_BIN names the binary");
        let mut child = Command::new(binary)
            .args(["serve", "memory:", "--listen", "127.0.0.1:0", "--access-key-file"])
            .arg(&file)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line of it");
        let url = line.split_whitespace().last().expect("its address").to_owned();
        Server { child, url, folder }
    }

    /// A client that may do everything.
    pub fn client(&self) -> Client {
        self.client_of("owner", "his-secret")
    }

    pub fn client_of(&self, id: &str, secret: &str) -> Client {
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("local"))
            .endpoint_url(&self.url)
            .credentials_provider(Credentials::new(id, secret, None, None, "test"))
            .http_client(aws_smithy_http_client::Builder::new().build_http())
            // Every answer is the first one.
            .retry_config(RetryConfig::disabled());
        Client::from_conf(config.build())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
