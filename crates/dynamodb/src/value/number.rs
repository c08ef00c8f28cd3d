//! Numbers: up to 38 significant digits, from 1E-130 to below 1E126, exact.

use std::fmt::Write as _;
use std::str::FromStr;

use bigdecimal::BigDecimal;
use stonecrop_keys::Decimal;

use crate::error::{Error, Result};

const MAX_DIGITS: usize = 38;
const MIN_EXPONENT: i64 = -130;
const MAX_EXPONENT: i64 = 125;
/// Most numbers have fewer characters.
const USUAL_CHARACTERS: usize = 16;
const NOT_A_NUMBER: &str = "The parameter cannot be converted to a numeric value";

/// The number that a text stands for.
///
/// ```
/// use stonecrop_dynamodb::value::{number_text, parse_number};
/// assert_eq!(number_text(&parse_number("1.50e3")?), "1500");
/// let error = parse_number("1e126").unwrap_err();
/// assert!(error.message().starts_with("Number overflow."));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn parse_number(text: &str) -> Result<Decimal> {
    if text.is_empty() {
        return Err(Error::validation(NOT_A_NUMBER));
    }
    text.parse().map_err(|_| what_is_wrong(text))
}

fn what_is_wrong(text: &str) -> Error {
    let Some(digits) = Digits::read(text) else {
        return Error::validation(format!("{NOT_A_NUMBER}: {text}"));
    };
    Error::validation(if digits.exponent > MAX_EXPONENT {
        "Number overflow. Attempting to store a number with magnitude larger than supported range"
    } else if digits.exponent < MIN_EXPONENT {
        "Number underflow. Attempting to store a number with magnitude smaller than supported range"
    } else {
        debug_assert!(digits.digits.len() > MAX_DIGITS, "nothing else can be wrong with {text}");
        "Attempting to store more than 38 significant digits in a Number"
    })
}

/// The digits of a number without zeros at either end, and the exponent of the leading one.
pub(super) struct Digits {
    pub(super) negative: bool,
    pub(super) digits: Vec<u8>,
    pub(super) exponent: i64,
}

impl Digits {
    pub(super) fn of(number: &Decimal) -> Self {
        let zero = Digits { negative: false, digits: Vec::new(), exponent: 0 };
        Self::read(&number.to_string()).unwrap_or(zero)
    }

    fn read(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            None => (unsigned, 0),
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = || whole.bytes().chain(fraction.bytes());
        if all().next().is_none() || !all().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let zeros = all().take_while(|byte| *byte == b'0').count();
        let mut digits: Vec<u8> = all().skip(zeros).collect();
        let leading = whole.len() as i64 - 1 - zeros as i64;
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let exponent = match digits.is_empty() {
            true => 0,
            false => exponent.saturating_add(leading),
        };
        Some(Digits { negative: text.starts_with('-'), digits, exponent })
    }
}

fn read_exponent(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // What does not fit is far out of range in any case.
    let magnitude = unsigned.parse::<i64>().unwrap_or(i64::MAX / 2);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// A number as the service prints it: plain digits, never an exponent, no zeros at the ends.
///
/// ```
/// use stonecrop_dynamodb::value::{number_text, parse_number};
/// assert_eq!(number_text(&parse_number("-1E-9")?), "-0.000000001");
/// assert_eq!(number_text(&parse_number("1E41")?).len(), 42);
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn number_text(number: &Decimal) -> String {
    let mut text = String::with_capacity(USUAL_CHARACTERS);
    // A text takes all that is written to it.
    let _ = write!(text, "{number}");
    if !text.contains('E') {
        return text;
    }
    let Digits { negative, digits, exponent } = Digits::of(number);
    let digits = String::from_utf8(digits).unwrap_or_default();
    let sign = if negative { "-" } else { "" };
    let count = digits.len() as i64;
    if exponent < 0 {
        let zeros = "0".repeat((-1 - exponent) as usize);
        return format!("{sign}0.{zeros}{digits}");
    }
    let zeros = "0".repeat((exponent + 1 - count).max(0) as usize);
    match digits.split_at_checked(exponent as usize + 1) {
        Some((whole, fraction)) if !fraction.is_empty() => format!("{sign}{whole}.{fraction}"),
        _ => format!("{sign}{digits}{zeros}"),
    }
}

/// The exact sum, or the error of a number that can't be stored.
///
/// ```
/// use stonecrop_dynamodb::value::{add, number_text, parse_number};
/// let sum = add(&parse_number("0.1")?, &parse_number("0.2")?)?;
/// assert_eq!(number_text(&sum), "0.3");
/// assert!(add(&parse_number("1e37")?, &parse_number("0.1")?).is_err());
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn add(a: &Decimal, b: &Decimal) -> Result<Decimal> {
    combine(a, b, i64::checked_add, |a, b| a + b)
}

/// The exact difference, or the error of a number that can't be stored.
///
/// ```
/// use stonecrop_dynamodb::value::{parse_number, subtract};
/// assert_eq!(subtract(&5.into(), &7.into())?, (-2).into());
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn subtract(a: &Decimal, b: &Decimal) -> Result<Decimal> {
    combine(a, b, i64::checked_sub, |a, b| a - b)
}

fn combine(
    a: &Decimal,
    b: &Decimal,
    small: fn(i64, i64) -> Option<i64>,
    large: fn(BigDecimal, BigDecimal) -> BigDecimal,
) -> Result<Decimal> {
    let (a, b) = (a.to_string(), b.to_string());
    // Counters are whole and small, and need no big numbers.
    if let (Ok(a), Ok(b)) = (a.parse(), b.parse())
        && let Some(result) = small(a, b)
    {
        return Ok(result.into());
    }
    let read = |text: &str| {
        BigDecimal::from_str(text).map_err(|_| Error::validation(format!("{NOT_A_NUMBER}: {text}")))
    };
    parse_number(&large(read(&a)?, read(&b)?).normalized().to_scientific_notation())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(text: &str) -> String {
        parse_number(text).unwrap_err().message().to_owned()
    }

    #[test]
    fn what_is_no_number_is_named() {
        assert_eq!(message(""), NOT_A_NUMBER);
        for text in ["b", "1e", "e1", ".", "-", "1 ", " 1", "1.1.1", "0x1", "NaN", "1e5.5", "١"] {
            assert_eq!(message(text), format!("{NOT_A_NUMBER}: {text}"));
        }
    }

    #[test]
    fn numbers_out_of_range_are_told_from_numbers_with_too_many_digits() {
        assert!(message("1e126").starts_with("Number overflow"));
        assert!(message("-1e99999999999999999999").starts_with("Number overflow"));
        assert!(message("1e-131").starts_with("Number underflow"));
        assert!(message("-0.1e-99999999999999999999").starts_with("Number underflow"));
        assert!(message(&"1".repeat(39)).starts_with("Attempting to store more than 38"));
        assert!(message(&format!("-1.{}", "1".repeat(38))).starts_with("Attempting to store more"));
        assert!(parse_number("9.9999999999999999999999999999999999999e125").is_ok());
        assert!(parse_number("-1e-130").is_ok());
        assert_eq!(parse_number("-0e99999999999").unwrap(), Decimal::ZERO);
        assert!(parse_number(&format!("1{}", "0".repeat(100))).is_ok());
    }

    #[test]
    fn numbers_are_printed_without_exponents() {
        for (text, printed) in [
            ("1e2", "100"),
            ("-0", "0"),
            ("+5.50", "5.5"),
            ("00012", "12"),
            (".5", "0.5"),
            ("1e-10", "0.0000000001"),
            ("123e-12", "0.000000000123"),
            ("-1.5e40", "-15000000000000000000000000000000000000000"),
        ] {
            assert_eq!(number_text(&parse_number(text).unwrap()), printed);
        }
        assert_eq!(number_text(&parse_number("1e125").unwrap()).len(), 126);
    }

    #[test]
    fn sums_that_do_not_fit_are_errors() {
        let number = |text| parse_number(text).unwrap();
        assert!(add(&number("9e125"), &number("1e125")).is_err());
        assert!(add(&number("1e125"), &number("1e-130")).is_err());
        assert_eq!(add(&number("1e125"), &number("-1e125")).unwrap(), Decimal::ZERO);
        assert_eq!(
            subtract(&number("1.1e-130"), &number("1e-130")).unwrap_err().message(),
            "Number underflow. Attempting to store a number with magnitude smaller than supported range"
        );
    }

    proptest! {
        #[test]
        fn a_printed_number_is_read_as_the_same(digits in "-?[1-9][0-9]{0,37}", exponent in -130i32..88) {
            let number = parse_number(&format!("{digits}e{exponent}")).unwrap();
            let text = number_text(&number);
            prop_assert!(!text.contains(['E', 'e']));
            prop_assert_eq!(parse_number(&text).unwrap(), number);
        }

        #[test]
        fn any_text_is_a_number_or_an_error(text in "\\PC{0,20}|[-+0-9.eE]{0,20}") {
            let _ = parse_number(&text);
        }

        #[test]
        fn whole_numbers_add_as_integers_do(a in any::<i64>(), b in any::<i64>()) {
            let sum = i128::from(a) + i128::from(b);
            let difference = i128::from(a) - i128::from(b);
            prop_assert_eq!(number_text(&add(&a.into(), &b.into()).unwrap()), sum.to_string());
            prop_assert_eq!(
                number_text(&subtract(&a.into(), &b.into()).unwrap()),
                difference.to_string()
            );
        }
    }
}
