//! Servers on object storage, and databases that move there and back.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;

use crate::world::World;

/// A server, and where it listens.
fn serve(world: &World, arguments: &[&str]) -> (Child, String) {
    let all =
        [&["serve", "--listen", "127.0.0.1:0", "--flush-interval", "10ms"], arguments].concat();
    let mut child = world.command(&all).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().rsplit_once(" at ").unwrap_or_else(|| panic!("{line:?}")).1;
    (child, address.to_owned())
}

/// A command that is sent to a server.
fn ask(world: &World, address: &str, arguments: &[&str]) -> crate::Run {
    let mut command = world.command(arguments);
    command.env("STONECROP_DATABASE", address);
    crate::finish(command)
}

#[test]
fn a_second_server_takes_over_and_the_first_stops() {
    let world = World::objects();
    let (mut first, address) = serve(&world, &[world.location(), "--shards", "2"]);
    ask(&world, &address, &["table", "create", "people", "--key", "id u64"]).good();
    ask(&world, &address, &["put", "people", "1", "name=Ann"]).good();

    let (mut second, address) = serve(&world, &[world.location()]);
    let status = first.wait().unwrap();
    let mut errors = String::new();
    first.stderr.unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(status.code(), Some(5), "{errors}");
    assert!(errors.contains("was taken over by another process"), "{errors}");

    ask(&world, &address, &["put", "people", "2", "name=Bob"]).good();
    let all = ask(&world, &address, &["query", "people", "--sort", "id"]).good();
    assert!(all.contains("Ann") && all.contains("Bob"), "{all}");
    second.kill().unwrap();
    second.wait().unwrap();
    // What was acknowledged is there after a kill, and needs no unlocking.
    assert!(world.good(&["query", "people", "--sort", "id"]).contains("Bob"));
}

#[test]
fn a_server_that_was_taken_over_says_so_and_ends_though_a_client_is_in_the_middle_of_a_request() {
    let world = World::objects();
    let (mut first, address) = serve(&world, &[world.location(), "--shards", "1"]);
    let host = address.trim_start_matches("http://");
    let connect = || TcpStream::connect(host).unwrap();
    let (mut slow, mut writing) = (connect(), connect());
    let head = |path: &str, length: usize| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    slow.write_all(head("/v1/query", 100).as_bytes()).unwrap();
    // One that is on its way to the database when that is taken over.
    let body = r#"{"name": "people", "partition_key": "id u64"}"#;
    let (start, end) = body.split_at(body.len() - 1);
    writing.write_all((head("/v1/tables", body.len()) + start).as_bytes()).unwrap();

    let mut second = world.command(&["serve", world.location(), "--listen", "127.0.0.1:0"]);
    let mut second = second.spawn().unwrap();
    while is_ready(host) {
        std::thread::yield_now();
    }
    writing.write_all(end.as_bytes()).unwrap();
    let mut answer = String::new();
    // The connection may end after the answer without a word.
    let _ = writing.read_to_string(&mut answer);
    assert!(answer.contains("taken-over") && answer.contains(" 503 "), "{answer}");
    let ended = (0..50).any(|_| {
        pause();
        first.try_wait().unwrap().is_some()
    });
    assert!(ended, "it waits for a request that will never be whole");
    second.kill().unwrap();
    second.wait().unwrap();
}

fn is_ready(host: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(host) else { return false };
    let head = format!("GET /health/ready HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    let mut answer = String::new();
    let asked = stream.write_all(head.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
    asked.is_ok() && answer.contains(" 200 ")
}

#[allow(clippy::disallowed_methods, reason = "another process takes real time")]
fn pause() {
    std::thread::sleep(std::time::Duration::from_millis(200));
}

#[test]
fn a_server_that_can_not_listen_takes_nothing_over() {
    let world = World::objects();
    let (mut first, address) = serve(&world, &[world.location(), "--shards", "1"]);
    ask(&world, &address, &["table", "create", "people", "--key", "id u64"]).good();
    let taken = address.trim_start_matches("http://");
    let refused = world.run(&["serve", world.location(), "--listen", taken]).bad(5);
    assert!(refused.contains("can't listen at"), "{refused}");
    let open = world.run(&["serve", world.location(), "--listen", "0.0.0.0:0"]).bad(5);
    assert!(open.contains("can be reached by others"), "{open}");
    ask(&world, &address, &["put", "people", "1", "name=Ann"]).good();
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_read_only_server_follows_and_refuses_writes() {
    let world = World::objects();
    let (mut writer, address) = serve(&world, &[world.location(), "--shards", "2"]);
    ask(&world, &address, &["table", "create", "people", "--key", "id u64"]).good();
    let (mut reader, following) = serve(&world, &["--read-only", world.location()]);
    ask(&world, &address, &["put", "people", "1", "name=Ann"]).good();
    let seen = || ask(&world, &following, &["query", "people"]).good().contains("Ann");
    assert!((0..300).any(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(50));
        seen()
    }));
    let refused = ask(&world, &following, &["put", "people", "2", "name=Bob"]).bad(5);
    assert!(refused.contains("takes no writes here"), "{refused}");
    let stats = ask(&world, &following, &["stats", "--json"]).good();
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert!(stats["lag_seconds"].as_f64().is_some_and(|lag| lag > 0.0), "{stats}");
    let later = ask(&world, &following, &["stats", "--json"]).good();
    let later: serde_json::Value = serde_json::from_str(&later).unwrap();
    assert_ne!(later["lag_seconds"], stats["lag_seconds"], "it is measured");
    assert!(metrics(&following).contains("\nstonecrop_lag_seconds "), "{}", metrics(&following));
    assert!(!metrics(&address).contains("lag_seconds"), "who writes is behind nobody");
    // A command that reads leaves the writer alone, and so did the follower.
    assert!(world.good(&["query", "people"]).contains("Ann"));
    ask(&world, &address, &["put", "people", "3", "name=Eve"]).good();
    for server in [&mut writer, &mut reader] {
        server.kill().unwrap();
        server.wait().unwrap();
    }
}

#[test]
fn a_compactor_works_for_a_server_that_leaves_it_to_others() {
    let world = World::objects();
    let (mut server, address) =
        serve(&world, &[world.location(), "--shards", "1", "--no-compaction"]);
    ask(&world, &address, &["table", "create", "people", "--key", "id u64"]).good();
    ask(&world, &address, &["put", "people", "1", "name=Ann"]).good();
    let arguments = ["compactor", world.location(), "--poll-interval", "50ms"];
    let mut compactor = world.command(&arguments).spawn().unwrap();
    assert!(ask(&world, &address, &["compact"]).good().contains("compacted"));
    assert!(ask(&world, &address, &["query", "people"]).good().contains("Ann"));
    let terminate = rustix::process::Signal::TERM;
    rustix::process::kill_process(rustix::process::Pid::from_child(&compactor), terminate).unwrap();
    assert!(compactor.wait().unwrap().success());
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn a_server_keeps_what_it_read_in_a_folder_and_tells_what_it_asked_for_and_what_that_costs() {
    let world = World::objects();
    let cache = world.path("cache");
    let folder = ["--shards", "1", "--cache-folder", cache.to_str().unwrap()];
    let arguments = [&[world.location()], &folder[..], &["--cache-folder-size", "16"]].concat();
    let (mut first, address) = serve(&world, &arguments);
    ask(&world, &address, &["table", "create", "people", "--key", "id u64"]).good();
    ask(&world, &address, &["put", "people", "1", "name=Ann"]).good();
    ask(&world, &address, &["compact"]).good();
    first.kill().unwrap();
    first.wait().unwrap();

    let (mut second, address) = serve(&world, &arguments);
    assert!(ask(&world, &address, &["query", "people"]).good().contains("Ann"));
    // They are written by a task of their own.
    assert!((0..200).any(|_| {
        std::thread::park_timeout(std::time::Duration::from_millis(50));
        has_files(&cache)
    }));
    let stats = ask(&world, &address, &["stats", "--json"]).good();
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    let figure =
        |name: &str| stats["objects"][name].as_f64().unwrap_or_else(|| panic!("{name}: {stats}"));
    assert!(figure("object_puts") > 0.0 && figure("object_gets") > 0.0, "{stats}");
    assert!(figure("object_sent_bytes") > 0.0, "{stats}");
    // At least what the requests so far cost, if there were no more of them in a month.
    let spent = figure("object_puts") * 0.005 / 1_000.0;
    assert!(figure("request_dollars_a_month") > spent, "{stats}");
    assert!(figure("storage_dollars_a_month") > 0.0, "{stats}");
    let metrics = metrics(&address);
    for name in ["object_requests", "object_dollars_a_month"] {
        assert!(metrics.contains(name), "{name} is not in {metrics}");
    }
    second.kill().unwrap();
    second.wait().unwrap();
}

/// Whether there is a file in a folder, or in one in it.
fn has_files(folder: &std::path::Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.is_file() || has_files(&path))
}

fn metrics(address: &str) -> String {
    let host = address.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_database_moves_to_object_storage_and_back_and_is_restored_from_a_backup() {
    let world = World::folder().with_people();
    let objects = format!("file://{}?engine=slatedb", world.path("objects").display());
    let told = world.good(&["copy", "data", &objects, "--shards", "3"]);
    assert!(told.contains("and were verified"), "{told}");
    let again = world.run(&["copy", "data", &objects]).bad(5);
    assert!(again.contains("there is a database already"), "{again}");
    let there = world.good(&["-d", &objects, "query", "people", "--sort", "id"]);
    assert_eq!(there, world.good(&["query", "people", "--sort", "id"]));

    world.good(&["-d", &objects, "backup", "backup"]);
    world.good(&["-d", "restored", "restore", "backup"]);
    assert_eq!(there, world.good(&["-d", "restored", "query", "people", "--sort", "id"]));
    world.good(&["-d", "restored", "check"]);
}

#[test]
fn a_server_makes_backups_where_it_was_told_to() {
    let world = World::folder().with_people();
    let (mut server, address) = serve(&world, &[world.location()]);
    let refused = ask(&world, &address, &["backup"]).bad(5);
    assert!(refused.contains("--backups"), "{refused}");
    server.kill().unwrap();
    server.wait().unwrap();

    let (mut server, address) = serve(&world, &[world.location(), "--backups", "backups"]);
    let told = ask(&world, &address, &["backup", "--json"]).good();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let location = told["location"].as_str().unwrap();
    assert!(world.good(&["-d", location, "query", "people"]).contains("Bob"));
    server.kill().unwrap();
    server.wait().unwrap();
}
