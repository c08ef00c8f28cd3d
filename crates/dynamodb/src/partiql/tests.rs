use serde_json::json;
use stonecrop::Path;

use super::*;
use crate::expression::Action;
use crate::value::{Item, decode, decode_item, encode_item};

fn message(text: &str, parameters: Vec<Value>) -> String {
    parse(text, parameters).expect_err(text).message().to_owned()
}

fn select(text: &str) -> Select {
    match parse(text, vec![]).expect(text) {
        Statement::Select(select) => select,
        other => panic!("{other:?}"),
    }
}

fn matches(condition: &str, item: &Item) -> bool {
    let text = format!("SELECT * FROM t WHERE {condition}");
    select(&text).condition.unwrap().matches(item)
}

#[test]
fn a_select_names_its_table_index_and_columns() {
    let all = select(r#"select * from "My-Table""#);
    assert_eq!((all.table.as_str(), all.index, all.projection), ("My-Table", None, None));
    let some = select(r#"SELECT a, "b c".d[1] FROM t."an-index" ORDER BY a DESC, b ASC, c"#);
    assert_eq!(some.index.as_deref(), Some("an-index"));
    let paths = [Path::new("a"), Path::new("b c").field("d").index(1)];
    assert_eq!(some.projection.unwrap().paths(), paths);
    let order: Vec<bool> = some.order.iter().map(|order| order.descending).collect();
    assert_eq!(order, [true, false, false]);
}

#[test]
fn conditions_are_those_of_expressions() {
    let item = decode_item(json!({
        "n": {"N": "5"}, "s": {"S": "it's"}, "nil": {"NULL": true}, "l": {"L": [{"N": "1"}]},
        "m": {"M": {"x": {"S": "a"}}}, "tags": {"SS": ["a", "b"]}, "t": {"BOOL": true},
    }))
    .unwrap();
    for (condition, expected) in [
        ("n = 5", true),
        ("n <> 5.0", false),
        ("n != -5", true),
        ("n BETWEEN 1 AND 5e0 AND t = true", true),
        ("n IN [1, 5]", true),
        ("n IN (1, 2)", false),
        ("s = 'it''s'", true),
        ("NOT s = 'x' AND (n > 4 OR n < 0)", true),
        ("gone IS MISSING", true),
        ("n IS NOT MISSING", true),
        ("nil IS NULL", true),
        ("gone IS NULL", false),
        ("n is not null", true),
        (r#"begins_with("m".x, 'a')"#, true),
        ("contains(tags, 'b') AND contains(l, 1)", true),
        ("size(tags) = 2", true),
        ("(size(l)) >= (1)", true),
        ("attribute_type(n, 'N')", true),
        ("l = [1]", true),
        ("m = {'x': 'a'}", true),
        ("tags = <<'b', 'a'>>", true),
        ("l[0] = 1", true),
    ] {
        assert_eq!(matches(condition, &item), expected, "{condition}");
    }
}

#[test]
fn an_insert_has_an_item_with_all_types() {
    let text = "INSERT INTO t VALUE {'s': 'a', 'n': -1.5, 'b': ?, 'l': [1, [true, null]], \
                'ss': <<'a'>>, 'ns': <<1, 2>>, 'm': {}}";
    let binary = decode(json!({"B": "YQ=="})).unwrap();
    let Statement::Insert(insert) = parse(text, vec![binary]).unwrap() else { panic!("{text}") };
    assert_eq!(
        encode_item(&insert.item),
        json!({
            "s": {"S": "a"}, "n": {"N": "-1.5"}, "b": {"B": "YQ=="},
            "l": {"L": [{"N": "1"}, {"L": [{"BOOL": true}, {"NULL": true}]}]},
            "ss": {"SS": ["a"]}, "ns": {"NS": ["1", "2"]}, "m": {"M": {}},
        })
    );
}

#[test]
fn an_update_sets_and_removes() {
    let text = "UPDATE t SET a = 1, b.c = list_append(l, [2]) SET tags = set_add(tags, <<'b'>>) \
                REMOVE d[0], e SET old = set_delete(old, <<'x'>>) SET n = n - ? \
                WHERE id = 'x' RETURNING MODIFIED NEW *";
    let Statement::Update(update) = parse(text, vec![1.into()]).unwrap() else { panic!("{text}") };
    assert_eq!(update.returning, Some(Returning::ModifiedNew));
    let item = decode_item(json!({
        "b": {"M": {}}, "l": {"L": [{"N": "1"}]}, "tags": {"SS": ["a"]}, "d": {"L": [{"N": "1"}]},
        "old": {"SS": ["x"]}, "n": {"N": "0"},
    }))
    .unwrap();
    assert_eq!(
        encode_item(&update.update.apply(&item).unwrap()),
        json!({
            "a": {"N": "1"}, "b": {"M": {"c": {"L": [{"N": "1"}, {"N": "2"}]}}},
            "l": {"L": [{"N": "1"}]}, "tags": {"SS": ["a", "b"]}, "d": {"L": []}, "n": {"N": "-1"},
        })
    );
    let text = "UPDATE t SET n = if_not_exists(n, 0) + 1 WHERE id = 'x'";
    let Statement::Update(update) = parse(text, vec![]).unwrap() else { panic!("{text}") };
    assert!(matches!(update.update.actions(), [Action::Set(..)]));
}

#[test]
fn exists_asks_for_an_item() {
    let text = "EXISTS(SELECT * FROM t WHERE id = 1 AND a IS MISSING)";
    assert!(matches!(parse(text, vec![]), Ok(Statement::Exists(_))));
}

#[test]
fn the_key_is_told_from_the_rest() {
    let Select { condition, .. } =
        select("SELECT * FROM t WHERE (a > 1 AND id = 7) AND b = 2 AND begins_with(sk, 'x')");
    let (key, rest) = split_key(condition.unwrap(), &["id", "sk"]);
    let names: Vec<&str> = key.tests().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["id", "sk"]);
    let Some(Condition::All(rest)) = rest else { panic!("{rest:?}") };
    assert_eq!(rest.len(), 2);
    let Select { condition, .. } = select("SELECT * FROM t WHERE id = 7 OR id = 8");
    let (key, rest) = split_key(condition.unwrap(), &["id"]);
    assert!(key.tests().is_empty() && rest.is_some());
}

#[test]
fn what_is_no_statement_is_refused() {
    let form =
        |problem: &str| format!("Statement wasn't well formed, can't be processed: {problem}");
    for (text, expected) in [
        ("", "Expected data manipulation"),
        ("CREATE TABLE t", "Expected data manipulation"),
        ("SELECT * FROM t WHERE", "Unexpected end of statement"),
        ("SELECT FROM t", "Unexpected keyword"),
        ("SELECT * FROM t extra", "Unexpected token after expression"),
        ("SELECT * FROM t WHERE a", "Unexpected end of statement"),
        ("SELECT * FROM t WHERE a = 'x", "Unexpected token"),
        ("INSERT INTO t VALUES (1)", "Unexpected token"),
        ("INSERT INTO t VALUE 1", "Expected a tuple"),
        ("DELETE FROM t", "Unexpected end of statement"),
        ("SELECT * FROM t WHERE nothing(a, b)", "Unexpected function"),
        ("SELECT * FROM t WHERE a = <<>>", "A set must have elements"),
    ] {
        assert_eq!(message(text, vec![]), form(expected), "{text}");
    }
    let mismatch = "Number of parameters in request and statement don't match.";
    assert_eq!(message("SELECT * FROM t WHERE a = ?", vec![]), mismatch);
    assert_eq!(message("SELECT * FROM t", vec![1.into()]), mismatch);
    assert_eq!(
        message("SELECT * FROM t WHERE a = 1e999", vec![]),
        "Number overflow. Attempting to store a number with magnitude larger than supported range"
    );
    assert!(message("UPDATE t SET a = 1 SET a.b = 2 WHERE id = 1", vec![]).contains("overlap"));
}

#[test]
fn deep_nesting_is_an_error_and_not_the_end_of_the_stack() {
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let done = small.spawn(|| {
        for open in ["(", "NOT ", "a = [", "a = {'b': ", "size(", "a IN ["] {
            let text = format!("SELECT * FROM t WHERE {}", open.repeat(10_000));
            assert!(parse(&text, vec![]).is_err());
        }
        let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
        let text = format!("INSERT INTO t VALUE {{'a': {deep}}}");
        assert!(message(&text, vec![]).starts_with("Nesting Levels"));
    });
    done.unwrap().join().unwrap();
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_statement_or_an_error(text in "(SELECT|UPDATE|DELETE FROM|INSERT INTO)? ?[a-z*?'\"=<>(){},. 0-9]{0,40}") {
        let _ = parse(&text, vec![1.into()]);
    }
}
