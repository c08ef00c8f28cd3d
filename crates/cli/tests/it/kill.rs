//! kill -9 of the server while clients write: what it acknowledged is there afterwards.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::world::World;

const CLIENTS: u64 = 4;

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stonecrop"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit_once("//").unwrap().1.parse().unwrap();
        Server { child, address }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Sends a request; none where the server is gone before it has answered.
fn send(stream: &mut BufReader<TcpStream>, method: &str, path: &str, body: &str) -> Option<String> {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.get_mut().write_all((head + body).as_bytes()).ok()?;
    let (mut line, mut length, mut status) = (String::new(), 0, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if status.is_empty() {
            status = line.clone();
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).unwrap();
    assert!(status.starts_with("HTTP/1.1 2"), "{status} {body}");
    Some(body)
}

fn connect(address: SocketAddr) -> Option<BufReader<TcpStream>> {
    TcpStream::connect(address).ok().map(BufReader::new)
}

/// Writes rows of its own, each with a higher number, until the server is gone. Returns what was
/// acknowledged last of each row, and what was sent last.
fn write_until_killed(address: SocketAddr, client: u64, round: u64) -> Vec<(u64, i64, bool)> {
    let mut written = Vec::new();
    let Some(mut stream) = connect(address) else { return written };
    for number in 0.. {
        let (row, value) = (client * 1_000 + number % 50, (round * 1_000_000 + number) as i64);
        let path = format!("/v1/tables/t/rows/{row}");
        let body = format!("{{\"set\": {{\"n\": {{\"Int\": {value}}}}}}}");
        let acknowledged = send(&mut stream, "PATCH", &path, &body).is_some();
        written.push((row, value, acknowledged));
        if !acknowledged {
            break;
        }
    }
    written
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed_under_load() {
    let folder = tempfile::tempdir().unwrap();
    let acknowledged = kill_under_load(&[folder.path().to_str().unwrap()], 50);
    assert!(acknowledged > 500, "only {acknowledged} writes were acknowledged");
}

#[test]
fn on_object_storage_nothing_acknowledged_is_lost_when_the_server_is_killed_under_load() {
    let world = World::objects();
    let arguments = [world.location(), "--shards", "4", "--flush-interval", "5ms"];
    let acknowledged = kill_under_load(&arguments, 15);
    assert!(acknowledged > 50, "only {acknowledged} writes were acknowledged");
}

/// How many writes were acknowledged, over all rounds.
fn kill_under_load(arguments: &[&str], rounds: u64) -> usize {
    let mut random = fastrand::Rng::with_seed(5);
    // What each row may hold: what was acknowledged last, or what was sent after that.
    let mut allowed: HashMap<u64, Vec<i64>> = HashMap::new();
    let mut acknowledged = 0_usize;
    for round in 0..=rounds {
        let server = Server::start(arguments);
        let address = server.address;
        let mut stream = connect(address).unwrap();
        if round == 0 {
            let table = "{\"name\": \"t\", \"partition_key\": \"id u64\"}";
            send(&mut stream, "POST", "/v1/tables", table).unwrap();
        }
        let rows = format!("{{\"prefixes\": [\"t\"], \"take\": {}}}", CLIENTS * 50);
        let rows = send(&mut stream, "POST", "/v1/query", &rows).unwrap();
        let rows: serde_json::Value = serde_json::from_str(&rows).unwrap();
        let mut found: HashMap<u64, i64> = HashMap::new();
        for row in rows["rows"].as_array().unwrap() {
            let value = row["columns"]["n"]["value"]["Int"].as_i64().unwrap();
            found.insert(row["row_key"].as_u64().unwrap(), value);
        }
        for (row, values) in &mut allowed {
            let value = found.get(row);
            let is_allowed = match value {
                Some(value) => values.contains(value),
                // Nothing of it was ever acknowledged.
                None => values.first() == Some(&i64::MIN),
            };
            assert!(is_allowed, "round {round}: row {row} holds {value:?}, not one of {values:?}");
            *values = vec![value.copied().unwrap_or(i64::MIN)];
        }
        if round == rounds {
            server.kill();
            break;
        }
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| std::thread::spawn(move || write_until_killed(address, client, round)))
            .collect();
        #[expect(clippy::disallowed_methods, reason = "a kill comes at any moment")]
        std::thread::sleep(Duration::from_millis(random.u64(10..150)));
        server.kill();
        for client in clients {
            for (row, value, was_acknowledged) in client.join().unwrap() {
                let values = allowed.entry(row).or_insert_with(|| vec![i64::MIN]);
                if was_acknowledged {
                    acknowledged += 1;
                    values.clear();
                }
                values.push(value);
            }
        }
    }
    acknowledged
}
