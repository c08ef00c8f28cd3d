//! A folder, a server and object storage: the same commands, the same output.

use crate::world::World;

const PEOPLE: &str = "id,name,age\n1,Ann,41\n2,Bob,37\n3,Eve,x\n4,Zoë,29\n";

/// Every command that does not tell of times and places.
fn script(world: &World) -> Vec<(i32, String, String)> {
    world.write("people.csv", PEOPLE);
    let commands: [&[&str]; 24] = [
        &["table", "create", "people", "--key", "id u64", "--family", "crm: name string, age int"],
        &["import", "people", "people.csv", "--yes"],
        &["table", "list"],
        &["table", "show", "people"],
        &["table", "show", "people", "--json"],
        &["put", "people", "5", "name=Kim", "age=50"],
        &["put", "people", "5", "age=51", "--when", "age = 1"],
        &["delete", "people", "2"],
        &["query", "people", "--where", "age > 30", "--sort", "-age"],
        &["query", "people", "--sort", "id", "--json"],
        &["query", "people", "--count"],
        &["query", "people", "--where", "age > 30", "--explain"],
        &["index", "create", "people", "by_age: age i64"],
        &["index", "list", "people"],
        &["index", "wait", "people"],
        &["export", "people", "--format", "csv"],
        &["export", "people", "--where", "age > 45"],
        &["get", "people", "99"],
        &["get", "nobody", "1"],
        &["query", "people", "--where", "age >"],
        &["check"],
        &["compact"],
        &["table", "truncate", "people", "--yes"],
        &["table", "drop", "people", "--yes"],
    ];
    let runs = commands.iter().map(|arguments| world.run(arguments));
    runs.map(|run| (run.code, run.out, run.errors)).collect()
}

#[test]
fn a_folder_a_server_and_object_storage_answer_the_same() {
    let (folder, server) = (script(&World::folder()), script(&World::server()));
    let objects = script(&World::objects());
    for ((folder, server), objects) in folder.iter().zip(&server).zip(&objects) {
        assert_eq!(folder, server);
        assert_eq!(folder, objects);
    }
    let codes: Vec<i32> = folder.iter().map(|(code, ..)| *code).collect();
    let expected = [0, 1, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 2, 0, 0, 0, 0];
    assert_eq!(codes, expected, "{folder:#?}");
}

#[test]
fn a_bench_leaves_nothing_behind() {
    for world in [World::folder(), World::server()] {
        let measured = world.good(&["bench", "--rows", "1000"]);
        assert!(measured.contains("get a row"), "{measured}");
        assert!(measured.contains("no comparison"), "{measured}");
        let tables = world.good(&["table", "list"]);
        assert!(tables.contains("there are no tables"), "{tables}");
    }
}

#[test]
fn a_token_can_come_from_an_option_the_environment_or_a_file() {
    let (world, token) = World::guarded_server();
    let errors = world.run(&["table", "list"]).bad(5);
    assert!(errors.contains("STONECROP_TOKEN"), "{errors}");
    world.run(&["table", "list", "--token", "guess"]).bad(5);
    let empty = "there are no tables yet; stonecrop table create makes one\n";
    assert_eq!(world.good(&["table", "list", "--token", &token]), empty);
    world.write("token", format!("{token}\n"));
    assert_eq!(world.good(&["--token-file", "token", "table", "list"]), empty);
    let mut command = world.command(&["table", "list"]);
    command.env("STONECROP_TOKEN", &token);
    assert_eq!(crate::finish(command).good(), empty);
    let create = ["table", "create", "t", "--key", "id u64", "--token", &token];
    let errors = world.run(&create).bad(5);
    assert!(errors.contains("the token allows to read"), "{errors}");
}

#[test]
fn an_access_key_is_told_to_the_shell_and_kept_in_a_file_for_its_owner_alone() {
    let world = World::folder();
    let made = world.good(&["access-key", "write", "importer", "--file", "access-keys"]);
    let [id, secret] = ["export AWS_ACCESS_KEY_ID=", "export AWS_SECRET_ACCESS_KEY="]
        .map(|start| made.lines().find_map(|line| line.strip_prefix(start)).unwrap());
    assert_eq!(world.read("access-keys"), format!("write {id} {secret} importer\n"));

    #[cfg(unix)]
    {
        let for_all = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(world.path("access-keys"), for_all).unwrap();
        let serve = ["serve", "memory:", "--access-key-file", "access-keys"];
        let errors = world.run(&serve).bad(5);
        assert!(errors.contains("chmod 600") && !errors.contains(secret), "{errors}");
        world.run(&["access-key", "read", "--file", "access-keys"]).bad(1);
    }
}

#[test]
fn a_site_that_is_none_is_refused() {
    for site in ["example.com", "http://example.com/", "http://Example.com", "null", "http://*"] {
        let errors = crate::run(&["serve", "memory:", "--cors-origin", site]).bad(2);
        assert!(errors.contains("a site is like http://example.com"), "{errors}");
    }
}
