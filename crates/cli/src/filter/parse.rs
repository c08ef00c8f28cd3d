//! The grammar, rule by rule.

use stonecrop::{Comparison, Condition, Path, Timestamp, Value};
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, opt, preceded, repeat, separated};
use winnow::error::{ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location as _, Stateful};
use winnow::token::{any, literal, one_of, take_till, take_while};

use super::literal::{TypedText, number, typed};
use super::{FilterError, MAX_NESTING};

/// The text that is left, and how deep we are in it.
type Input<'i> = Stateful<LocatingSlice<&'i str>, usize>;
type Parsed<T> = winnow::ModalResult<T, Fault>;

/// Where reading went wrong. Without words of its own, something else was expected there.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    offset: usize,
    problem: String,
}

impl ParserError<Input<'_>> for Fault {
    type Inner = Self;

    fn from_input(input: &Input<'_>) -> Self {
        Fault { offset: input.current_token_start(), problem: String::new() }
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

impl Fault {
    pub(super) fn into_error(self, text: &str) -> FilterError {
        let problem = match (self.problem.is_empty(), text.get(self.offset..)) {
            (false, _) => self.problem,
            (true, None | Some("")) => "something is missing at the end".to_owned(),
            (true, Some(_)) => "this is not understood".to_owned(),
        };
        FilterError { text: text.to_owned(), offset: self.offset, problem }
    }
}

/// There is no other way to read it from here.
fn cut<T>(offset: usize, problem: impl Into<String>) -> Parsed<T> {
    Err(ErrMode::Cut(Fault { offset, problem: problem.into() }))
}

/// What must follow, in words for when it does not.
fn must<'i, T>(
    mut parser: impl Parser<Input<'i>, T, ErrMode<Fault>>,
    expected: &'static str,
) -> impl Parser<Input<'i>, T, ErrMode<Fault>> {
    move |input: &mut Input<'i>| {
        space(input)?;
        let offset = input.current_token_start();
        match parser.parse_next(input) {
            Err(ErrMode::Backtrack(_)) => cut(offset, format!("here should be {expected}")),
            other => other,
        }
    }
}

pub(super) fn whole(text: &str) -> Result<Condition, Fault> {
    let mut input = Stateful { input: LocatingSlice::new(text), state: 0 };
    let mut read = || {
        let condition = filter(&mut input)?;
        space(&mut input)?;
        match input.is_empty() {
            true => Ok(condition),
            false => {
                let problem = "after a condition comes \"and\", \"or\" or the end";
                cut(input.current_token_start(), problem)
            }
        }
    };
    match read() {
        Ok(condition) => Ok(condition),
        Err(ErrMode::Backtrack(fault) | ErrMode::Cut(fault)) => Err(fault),
        // Never of a text that is there as a whole.
        Err(ErrMode::Incomplete(_)) => Err(Fault { offset: text.len(), problem: String::new() }),
    }
}

fn filter(input: &mut Input<'_>) -> Parsed<Condition> {
    let children = chain(and, "or", input)?;
    Ok(one_or(children, Condition::Any))
}

fn and(input: &mut Input<'_>) -> Parsed<Condition> {
    let children = chain(not, "and", input)?;
    Ok(one_or(children, Condition::All))
}

fn one_or(mut children: Vec<Condition>, group: fn(Vec<Condition>) -> Condition) -> Condition {
    match (children.len(), children.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            children.extend(last);
            group(children)
        }
    }
}

/// One or more, with a word between them.
fn chain<'i>(
    mut part: fn(&mut Input<'i>) -> Parsed<Condition>,
    between: &'static str,
    input: &mut Input<'i>,
) -> Parsed<Vec<Condition>> {
    let mut parts = vec![part.parse_next(input)?];
    while opt(word(between)).parse_next(input)?.is_some() {
        parts.push(part.parse_next(input)?);
    }
    Ok(parts)
}

fn not(input: &mut Input<'_>) -> Parsed<Condition> {
    space(input)?;
    let offset = input.current_token_start();
    if input.state >= MAX_NESTING {
        return cut(offset, format!("the filter is nested more than {MAX_NESTING} deep"));
    }
    input.state += 1;
    let condition = not_nested(input, offset);
    input.state -= 1;
    condition
}

fn not_nested(input: &mut Input<'_>, offset: usize) -> Parsed<Condition> {
    if opt(word("not")).parse_next(input)?.is_some() {
        return Ok(match opt(word("exists")).parse_next(input)? {
            Some(_) => Condition::NotExists,
            None => not(input)?.not(),
        });
    }
    if opt(sign("(")).parse_next(input)?.is_some() {
        let inner = filter(input)?;
        must(sign(")"), "\")\", \"and\" or \"or\"").parse_next(input)?;
        return Ok(inner);
    }
    if opt(word("exists")).parse_next(input)?.is_some() {
        return Ok(Condition::Exists);
    }
    if opt(alt((word("and"), word("or")))).parse_next(input)?.is_some() {
        return cut(offset, "here should be a condition; a column of this name needs quotes");
    }
    let path = must(path, "a condition, as in: score > 10").parse_next(input)?;
    test(path, input)
}

/// A path, and how it was written.
struct Named<'i> {
    path: Path,
    text: &'i str,
    offset: usize,
}

impl Named<'_> {
    /// The column that is meant, for what is asked of whole columns.
    fn column(&self) -> Parsed<String> {
        if self.path.steps().is_empty() {
            return Ok(self.path.column().to_owned());
        }
        match self.text.contains('"') {
            true => cut(self.offset, "this is asked of a column, not of a part of it"),
            false => Ok(self.text.to_owned()),
        }
    }
}

fn path<'i>(input: &mut Input<'i>) -> Parsed<Named<'i>> {
    let offset = input.current_token_start();
    let step = alt((preceded('.', name), ('[', digit1, ']').void()));
    let text = (name, repeat::<_, _, (), _, _>(0.., step)).take().parse_next(input)?;
    match text.parse::<Path>() {
        Ok(path) => Ok(Named { path, text, offset }),
        Err(error) => cut(offset, error.to_string()),
    }
}

fn name(input: &mut Input<'_>) -> Parsed<()> {
    let bare = (one_of(starts_name), take_while(0.., continues_name)).void();
    alt((bare, quoted_json.void())).parse_next(input)
}

pub(super) fn starts_name(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

pub(super) fn continues_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-')
}

const TESTS: &str = "a test: =, !=, <, <=, >, >=, in (…), between … and …, begins with, contains, \
                     exists, is null, is fresh, is stale, or written after";

fn test(named: Named<'_>, input: &mut Input<'_>) -> Parsed<Condition> {
    if let Some(how) = opt(comparison).parse_next(input)? {
        return Ok(Condition::Compare(named.path, how, value(input)?));
    }
    if opt(word("is")).parse_next(input)?.is_some() {
        return is(named, input);
    }
    if opt(word("written")).parse_next(input)?.is_some() {
        let column = named.column()?;
        let how = must(written, "before, after, at or a comparison").parse_next(input)?;
        return Ok(Condition::WrittenAt(column, how, time(input)?));
    }
    let negated = opt(word("not")).parse_next(input)?.is_some();
    let condition = must(word_test, TESTS).parse_next(input)?.of(named.path, input)?;
    Ok(if negated { condition.not() } else { condition })
}

/// The tests that are words and that "not" can stand before.
#[derive(Clone, Copy)]
enum WordTest {
    In,
    Between,
    BeginsWith,
    Contains,
    Exists,
}

fn word_test(input: &mut Input<'_>) -> Parsed<WordTest> {
    alt((
        word("in").value(WordTest::In),
        word("between").value(WordTest::Between),
        (word("begins"), word("with")).value(WordTest::BeginsWith),
        word("contains").value(WordTest::Contains),
        word("exists").value(WordTest::Exists),
    ))
    .parse_next(input)
}

impl WordTest {
    fn of(self, path: Path, input: &mut Input<'_>) -> Parsed<Condition> {
        Ok(match self {
            WordTest::In => {
                must(sign("("), "a list of values in parentheses").parse_next(input)?;
                let values = separated(1.., value, sign(",")).parse_next(input)?;
                must(sign(")"), "a comma or \")\"").parse_next(input)?;
                Condition::In(path, values)
            }
            WordTest::Between => {
                let low = value(input)?;
                must(word("and"), "\"and\" and the other end").parse_next(input)?;
                Condition::Between(path, low, value(input)?)
            }
            WordTest::BeginsWith => {
                space(input)?;
                let offset = input.current_token_start();
                match value(input)? {
                    start @ (Value::String(_) | Value::Bytes(_)) => {
                        Condition::BeginsWith(path, start)
                    }
                    _ => return cut(offset, "here should be a text or bytes"),
                }
            }
            WordTest::Contains => Condition::Contains(path, value(input)?),
            WordTest::Exists => Condition::Has(path),
        })
    }
}

fn is(named: Named<'_>, input: &mut Input<'_>) -> Parsed<Condition> {
    let negated = opt(word("not")).parse_next(input)?.is_some();
    let state = alt((word("null").value(0), word("fresh").value(1), word("stale").value(2)));
    let condition = match (must(state, "null, fresh or stale").parse_next(input)?, negated) {
        (0, true) => return Ok(Condition::HasValue(named.path)),
        (0, false) => return Ok(Condition::IsNull(named.path)),
        (1, _) => Condition::IsFresh(named.column()?),
        _ => Condition::IsStale(named.column()?),
    };
    Ok(if negated { condition.not() } else { condition })
}

fn comparison(input: &mut Input<'_>) -> Parsed<Comparison> {
    alt((
        alt((sign("!="), sign("<>"))).value(Comparison::Ne),
        sign("<=").value(Comparison::Le),
        sign(">=").value(Comparison::Ge),
        sign("<").value(Comparison::Lt),
        sign(">").value(Comparison::Gt),
        alt((sign("=="), sign("="))).value(Comparison::Eq),
    ))
    .parse_next(input)
}

fn written(input: &mut Input<'_>) -> Parsed<Comparison> {
    alt((
        word("before").value(Comparison::Lt),
        word("after").value(Comparison::Gt),
        word("at").value(Comparison::Eq),
        comparison,
    ))
    .parse_next(input)
}

fn time(input: &mut Input<'_>) -> Parsed<Timestamp> {
    opt(word("timestamp")).parse_next(input)?;
    space(input)?;
    let offset = input.current_token_start();
    let text = must(text, "a time in quotes, as \"2024-01-15T10:00:00Z\"").parse_next(input)?;
    match typed(TypedText::Timestamp, &text) {
        Ok(Value::Timestamp(time)) => Ok(time),
        Ok(_) => cut(offset, "this is no time"),
        Err(problem) => cut(offset, problem),
    }
}

const VALUES: &str = "a value: text in quotes, a number, true, false, null, timestamp \"…\", \
                      date \"…\", uuid \"…\" or x\"00ff\"";

fn value(input: &mut Input<'_>) -> Parsed<Value> {
    must(any_value, VALUES).parse_next(input)
}

fn any_value(input: &mut Input<'_>) -> Parsed<Value> {
    let offset = input.current_token_start();
    let made = |made: Result<Value, String>| match made {
        Ok(value) => Ok(value),
        Err(problem) => cut(offset, problem),
    };
    if let Some(text) = opt(text).parse_next(input)? {
        return Ok(Value::String(text));
    }
    if let Some(text) = opt(number_text).parse_next(input)? {
        return made(number(text));
    }
    let types = alt((
        word("timestamp").value(TypedText::Timestamp),
        word("date").value(TypedText::Date),
        word("uuid").value(TypedText::Uuid),
    ));
    if let Some(of) = opt(types).parse_next(input)? {
        let text = must(text, "a text in quotes").parse_next(input)?;
        return made(typed(of, &text));
    }
    if let Some(digits) = opt(preceded(one_of(['x', 'X']), text)).parse_next(input)? {
        let bytes = crate::input::parse_hex(&digits);
        return made(bytes.map(Value::Bytes).map_err(|error| error.to_string()));
    }
    alt((
        word("true").value(Value::Bool(true)),
        word("false").value(Value::Bool(false)),
        word("null").value(Value::Null),
    ))
    .parse_next(input)
}

fn number_text<'i>(input: &mut Input<'i>) -> Parsed<&'i str> {
    let sign = || opt(one_of(['-', '+']));
    let exponent = (one_of(['e', 'E']), sign(), digit1);
    let number = (opt('-'), digit1, opt(('.', digit1)), opt(exponent), opt('d'));
    let text = number.take().parse_next(input)?;
    match input.input.chars().next() {
        Some(next) if continues_name(next) || next == '.' => {
            cut(input.current_token_start(), "a number ends before this, and a space is missing")
        }
        _ => Ok(text),
    }
}

/// Text in quotes of either kind.
fn text(input: &mut Input<'_>) -> Parsed<String> {
    let offset = input.current_token_start();
    match input.input.chars().next() {
        Some('"') => {
            let json = quoted_json(input)?;
            match serde_json::from_str(json) {
                Ok(text) => Ok(text),
                Err(_) => cut(offset, "a text in double quotes is written as in JSON"),
            }
        }
        Some('\'') => single_quoted(input),
        _ => Err(ErrMode::Backtrack(Fault { offset, problem: String::new() })),
    }
}

/// JSON's quotes and what is between them, escapes unread.
fn quoted_json<'i>(input: &mut Input<'i>) -> Parsed<&'i str> {
    let offset = input.current_token_start();
    let part = alt((('\\', any).void(), take_till(1.., ['"', '\\']).void()));
    let quoted = ('"', repeat::<_, _, (), _, _>(0.., part), must_end('"', offset));
    quoted.take().parse_next(input)
}

fn single_quoted(input: &mut Input<'_>) -> Parsed<String> {
    let offset = input.current_token_start();
    let part = alt((literal("''").value("'"), take_till(1.., '\'')));
    let inner = repeat::<_, _, Vec<&str>, _, _>(0.., part).map(|parts| parts.concat());
    let (_, text, _) = ('\'', inner, must_end('\'', offset)).parse_next(input)?;
    Ok(text)
}

/// The quote that ends a text which began at `offset`.
fn must_end<'i>(quote: char, offset: usize) -> impl Parser<Input<'i>, (), ErrMode<Fault>> {
    move |input: &mut Input<'i>| match opt(quote).parse_next(input)? {
        Some(_) => Ok(()),
        None => cut(offset, "the quotes that begin here do not end"),
    }
}

fn space(input: &mut Input<'_>) -> Parsed<()> {
    multispace0.void().parse_next(input)
}

/// A sign, and the space before it.
fn sign<'i>(sign: &'static str) -> impl Parser<Input<'i>, (), ErrMode<Fault>> {
    (multispace0, literal(sign)).void()
}

/// A word in either case, and the space before it. What follows is not of the same word.
fn word<'i>(word: &'static str) -> impl Parser<Input<'i>, (), ErrMode<Fault>> {
    let whole = take_while(1.., continues_name);
    (multispace0, whole.verify(move |found: &str| found.eq_ignore_ascii_case(word))).void()
}
