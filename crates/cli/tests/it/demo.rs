//! The demo shows what it says.

use crate::run;

/// The lists of the demo, each the keys in hex and the values beside them.
fn lists(demo: &str) -> Vec<Vec<(String, String)>> {
    let lists = demo.split("sorted by their bytes").skip(1);
    lists
        .map(|list| {
            let lines = list.lines().skip(1).take_while(|line| !line.is_empty());
            lines
                .map(|line| {
                    let (hex, values) = line.split_once("  ").unwrap();
                    (hex.replace(' ', ""), values.trim().to_owned())
                })
                .collect()
        })
        .collect()
}

#[test]
fn every_list_is_in_the_order_of_its_bytes() {
    let lists = lists(&run(&["key", "demo"]).good());
    assert_eq!(lists.len(), 8);
    for list in lists {
        assert!(list.len() >= 4);
        // Hex digits sort as the bytes that they stand for.
        assert!(list.is_sorted(), "{list:?}");
    }
}

#[test]
fn and_so_in_the_order_of_its_values() {
    let lists = lists(&run(&["key", "demo"]).good());
    let values = |index: usize| lists[index].iter().map(|(_, json)| json.as_str());
    let decimals: Vec<f64> =
        values(2).map(|json| json.trim_matches(['[', ']', '"']).parse().unwrap()).collect();
    assert!(decimals.is_sorted(), "{decimals:?}");
    let times: Vec<_> = values(3).map(|json| json.replace("Z", ".000Z")).collect();
    assert!(times.is_sorted_by(|newer, older| newer[..21] >= older[..21]), "{times:?}");
    let scores: Vec<_> = values(0).take(3).collect();
    assert_eq!(scores, [r#"["acme",7,99.0]"#, r#"["acme",7,-2.5]"#, r#"["acme",7,null]"#]);
    let texts: Vec<_> = values(1).collect();
    assert_eq!(
        texts,
        [r#"["",9]"#, r#"["a",255]"#, r#"["a\u0000",3]"#, r#"["a\u0000b",1]"#, r#"["ab",0]"#]
    );
    let collated: Vec<_> = values(7).take(4).collect();
    assert_eq!(collated, [r#"["apfel"]"#, r#"["Apfel"]"#, r#"["Äpfel"]"#, r#"["Zimt"]"#]);
}

#[test]
fn its_commands_give_what_it_shows() {
    let demo = run(&["key", "demo"]).good();
    let schema = "name string, seq u8";
    let explained =
        run(&["key", "explain", "--schema", schema, "--values", r#"["a\u0000b",1]"#]).good();
    assert!(demo.contains(&format!("--schema '{schema}' \\\n")));
    assert!(demo.contains(&explained));
}
