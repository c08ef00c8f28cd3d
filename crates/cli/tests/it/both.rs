//! A folder and a server: the same commands, the same output.

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
fn a_folder_and_a_server_answer_the_same() {
    let (folder, server) = (script(&World::folder()), script(&World::server()));
    for (folder, server) in folder.iter().zip(&server) {
        assert_eq!(folder, server);
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
