//! Updates as they are written.

use winnow::combinator::{alt, opt, separated};
use winnow::prelude::*;

use super::super::grammar::{
    Input, Parsed, Raw, RawPath, in_parentheses, must, next_is_sign, path, peek, read, sign,
    simple_operand, unexpected, value, word,
};
use super::super::token::Kind;

const KEYWORDS: &[&str] = &["SET", "REMOVE", "ADD", "DELETE"];

/// A section as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Section<'i> {
    Set(Vec<(RawPath<'i>, Raw<'i>)>),
    Remove(Vec<RawPath<'i>>),
    Add(Vec<(RawPath<'i>, &'i str)>),
    Delete(Vec<(RawPath<'i>, &'i str)>),
}

impl Section<'_> {
    pub(super) fn keyword(&self) -> &'static str {
        match self {
            Section::Set(_) => "SET",
            Section::Remove(_) => "REMOVE",
            Section::Add(_) => "ADD",
            Section::Delete(_) => "DELETE",
        }
    }
}

pub(super) fn whole(text: &str) -> Result<Vec<Section<'_>>, String> {
    read(text, KEYWORDS, |input| {
        let mut sections = vec![section(input)?];
        while peek(input).is_some_and(|token| token.kind != Kind::End) {
            sections.push(section(input)?);
        }
        Ok(sections)
    })
}

fn section<'i>(input: &mut Input<'_, 'i>) -> Parsed<Section<'i>> {
    if opt(word("SET")).parse_next(input)?.is_some() {
        return separated(1.., must(set), sign(",")).map(Section::Set).parse_next(input);
    }
    if opt(word("REMOVE")).parse_next(input)?.is_some() {
        return separated(1.., must(path), sign(",")).map(Section::Remove).parse_next(input);
    }
    let make = match opt(alt((word("ADD"), word("DELETE")))).parse_next(input)? {
        Some(keyword) if keyword.eq_ignore_ascii_case("ADD") => Section::Add,
        Some(_) => Section::Delete,
        None => return unexpected(input),
    };
    separated(1.., must((path, must(value))), sign(",")).map(make).parse_next(input)
}

fn set<'i>(input: &mut Input<'_, 'i>) -> Parsed<(RawPath<'i>, Raw<'i>)> {
    let path = path(input)?;
    must(sign("=")).parse_next(input)?;
    Ok((path, must(sum).parse_next(input)?))
}

fn sum<'i>(input: &mut Input<'_, 'i>) -> Parsed<Raw<'i>> {
    let first = term(input)?;
    // A sum has two sides; one in parentheses is no side of another.
    let is_sum = |raw: &Raw<'_>| matches!(raw.bare(), Raw::Sum(..));
    if is_sum(&first) {
        return Ok(first);
    }
    let Some(how) = opt(alt((sign("+"), sign("-")))).parse_next(input)? else {
        return Ok(first);
    };
    let second = must(term).parse_next(input)?;
    match is_sum(&second) {
        true => unexpected(input),
        false => Ok(Raw::Sum(how, Box::new((first, second)))),
    }
}

fn term<'i>(input: &mut Input<'_, 'i>) -> Parsed<Raw<'i>> {
    match next_is_sign(input, "(") {
        true => Ok(Raw::Parentheses(Box::new(in_parentheses(input, sum)?))),
        false => simple_operand(input),
    }
}
