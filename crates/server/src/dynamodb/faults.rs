//! Rules for single parameters, of which the service tells all that are broken at once.

use serde_json::Value as Json;

use super::input::Input;
use super::refusal::{Refusal, Result};
use super::shown::shown_list;

pub(super) const RETURN_CAPACITY: &[&str] = &["INDEXES", "TOTAL", "NONE"];
pub(super) const RETURN_METRICS: &[&str] = &["SIZE", "NONE"];
pub(super) const RETURN_VALUES: &[&str] =
    &["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"];
pub(super) const RETURN_ON_FAILURE: &[&str] = &["ALL_OLD", "NONE"];
pub(super) const SELECT: &[&str] =
    &["SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"];
pub(super) const OPERATOR: &[&str] = &["OR", "AND"];

/// How many broken rules are told at once.
const MOST_TOLD: usize = 10;

/// The broken rules so far.
#[derive(Default)]
pub(super) struct Faults(Vec<String>);

impl Faults {
    pub(super) fn add(&mut self, value: Option<&str>, at: &str, rule: &str) {
        let value = value.map_or("null".to_owned(), |value| format!("'{value}'"));
        self.0.push(format!("Value {value} at '{at}' failed to satisfy constraint: {rule}"));
    }

    /// The same where the service does not repeat the value.
    pub(super) fn add_unshown(&mut self, at: &str, rule: &str) {
        self.0.push(format!("Value at '{at}' failed to satisfy constraint: {rule}"));
    }

    pub(super) fn required(&mut self, input: &Input, name: &str) {
        self.required_at(input, name, "");
    }

    /// The same of something within a request, whose place `within` is.
    pub(super) fn required_at(&mut self, input: &Input, name: &str, within: &str) {
        if !input.has(name) {
            self.add(None, &format!("{within}{}", at(name)), "Member must not be null");
        }
    }

    pub(super) fn one_of(&mut self, input: &Input, name: &str, values: &[&str]) {
        if let Some(word) = input.text(name) {
            self.word(Some(word), &at(name), values);
        }
    }

    pub(super) fn word(&mut self, word: Option<&str>, at: &str, values: &[&str]) {
        if let Some(word) = word.filter(|word| !values.contains(word)) {
            let rule = format!("Member must satisfy enum value set: [{}]", values.join(", "));
            self.add(Some(word), at, &rule);
        }
    }

    pub(super) fn at_least(&mut self, number: Option<i64>, at: &str, least: i64) {
        if let Some(number) = number.filter(|number| *number < least) {
            let rule = format!("Member must have value greater than or equal to {least}");
            self.add(Some(&number.to_string()), at, &rule);
        }
    }

    pub(super) fn at_most(&mut self, number: Option<i64>, at: &str, most: i64) {
        if let Some(number) = number.filter(|number| *number > most) {
            let rule = format!("Member must have value less than or equal to {most}");
            self.add(Some(&number.to_string()), at, &rule);
        }
    }

    pub(super) fn length(
        &mut self,
        length: usize,
        shown: &str,
        at: &str,
        least: usize,
        most: usize,
    ) {
        if let Some(rule) = length_rule(length, least, most) {
            self.add(Some(shown), at, &rule);
        }
    }

    /// A list of so many elements.
    pub(super) fn list(&mut self, list: &[Json], at: &str, least: usize, most: usize) {
        if let Some(rule) = length_rule(list.len(), least, most) {
            self.add(Some(&shown_list(list)), at, &rule);
        }
    }

    /// A text that may be left out, of so many characters.
    pub(super) fn text(&mut self, text: Option<&str>, at: &str, least: usize, most: usize) {
        if let Some(text) = text {
            self.length(text.chars().count(), text, at, least, most);
        }
    }

    /// The name of a table, or its ARN, which must be given.
    pub(super) fn table_name(&mut self, input: &Input) {
        self.required(input, "TableName");
        let Some(name) = input.text("TableName") else { return };
        self.table(name, "tableName");
    }

    /// The name of an index, which must be given.
    pub(super) fn index_name(&mut self, input: &Input, within: &str) {
        self.required_at(input, "IndexName", within);
        let Some(name) = input.text("IndexName") else { return };
        let at = format!("{within}indexName");
        self.pattern(name, &at);
        self.length(name.len(), name, &at, 3, 255);
    }

    fn pattern(&mut self, name: &str, at: &str) {
        if !name.bytes().all(is_of_name) {
            let rule = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";
            self.add(Some(name), at, rule);
        }
    }

    pub(super) fn table(&mut self, name: &str, at: &str) {
        self.table_of(name, at, 1);
    }

    /// The name of a table that is to be made, which must be given.
    pub(super) fn new_table_name(&mut self, input: &Input) {
        self.table_of(input.text("TableName").unwrap_or_default(), "tableName", 3);
    }

    fn table_of(&mut self, name: &str, at: &str, least: usize) {
        let bare = name_of(name);
        self.pattern(bare, at);
        self.length(bare.len(), bare, at, least, 255);
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.0.truncate(MOST_TOLD);
        match self.0.len() {
            0 => Ok(()),
            1 => Err(Refusal::validation(format!(
                "1 validation error detected: {}",
                self.0.concat()
            ))),
            many => Err(Refusal::validation(format!(
                "{many} validation errors detected: {}",
                self.0.join("; ")
            ))),
        }
    }
}

/// The name of a table, given by name or by ARN, of a length that names have.
pub(super) fn table_name(input: &Input) -> Result<String> {
    let name = name_of(input.text("TableName").unwrap_or_default());
    check_name_length(name)?;
    Ok(name.to_owned())
}

/// What operations on tables ask of the name before all else.
pub(super) fn check_table(input: &Input) -> Result<()> {
    check_table_given(input)?;
    check_name_length(name_of(input.text("TableName").unwrap_or_default()))
}

pub(super) fn check_table_given(input: &Input) -> Result<()> {
    match input.has("TableName") {
        true => Ok(()),
        false => Err(Refusal::validation(
            "The parameter 'TableName' is required but was not present in the request",
        )),
    }
}

pub(super) fn check_name_length(name: &str) -> Result<()> {
    match (3..=255).contains(&name.len()) {
        true => Ok(()),
        false => Err(Refusal::validation(
            "TableName must be at least 3 characters long and at most 255 characters long",
        )),
    }
}

/// The rule that a length breaks, if it does.
pub(super) fn length_rule(length: usize, least: usize, most: usize) -> Option<String> {
    match length {
        length if length < least => {
            Some(format!("Member must have length greater than or equal to {least}"))
        }
        length if length > most => {
            Some(format!("Member must have length less than or equal to {most}"))
        }
        _ => None,
    }
}

/// The name in an ARN; anything else is a name.
pub(super) fn name_of(text: &str) -> &str {
    let of_table = text.strip_prefix("arn:").and_then(|rest| rest.split_once(":table/"));
    of_table.map_or(text, |(_, name)| name.split('/').next().unwrap_or_default())
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Members are told by their names with a small first letter.
pub(super) fn at(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| {
        format!("{}{}", first.to_ascii_lowercase(), letters.as_str())
    })
}
