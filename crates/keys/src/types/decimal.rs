//! Decimals of up to 38 significant digits: the sign is the tag, then comes the exponent to base
//! 100, then the digits in pairs, each doubled and one more where another pair follows. After the
//! tag, a negative number is the complement of its positive.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::decode::{FromKey, KeyReader};
use crate::encode::ToKey;
use crate::error::{Error, Result};
use crate::schema::Type;
use crate::tag;

const MAX_DIGITS: usize = 38;
/// The exponents of the leading digit, as DynamoDB has them.
const MIN_EXPONENT: i32 = -130;
const MAX_EXPONENT: i32 = 125;
/// 38 digits make 20 pairs where the first digit stands alone in its pair.
const MAX_PAIRS: usize = MAX_DIGITS / 2 + 1;
/// A tag, an exponent, and the pairs.
const MAX_BYTES: usize = 2 + MAX_PAIRS;
/// What is added to the exponent to base 100, which is -64 to 63.
const EXPONENT_BIAS: i32 = 0x80;

/// A decimal number: up to 38 significant digits, magnitudes from 1e-130 to below 1e126.
///
/// It is held in the form that goes into the key, so that writing it is a copy and comparing it
/// is comparing bytes. 5, 5.0 and 5e0 are the same number.
///
/// ```
/// use stonecrop_keys::Decimal;
/// let price: Decimal = "19.90".parse()?;
/// assert_eq!(price.to_string(), "19.9");
/// assert!(price < Decimal::from(20));
/// assert!(price > "-1e125".parse()?);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The ascending field; zeros after its end.
    field: [u8; MAX_BYTES],
    length: u8,
}

impl Decimal {
    /// The number zero.
    ///
    /// ```
    /// use stonecrop_keys::Decimal;
    /// assert_eq!("-0.00".parse(), Ok(Decimal::ZERO));
    /// ```
    pub const ZERO: Decimal = {
        let mut field = [0; MAX_BYTES];
        if let Some(first) = field.first_mut() {
            *first = tag::DECIMAL_ZERO;
        }
        Decimal { field, length: 1 }
    };

    /// Whether the number is below zero.
    ///
    /// ```
    /// use stonecrop_keys::Decimal;
    /// assert!(Decimal::from(-1).is_negative());
    /// ```
    pub fn is_negative(&self) -> bool {
        self.field.first() == Some(&tag::DECIMAL_NEGATIVE)
    }

    /// How many bytes its digits take: one for each two of them, as they stand left and right of
    /// the point.
    ///
    /// ```
    /// use stonecrop_keys::Decimal;
    /// let bytes = |text: &str| text.parse().map(|number: Decimal| number.digit_bytes());
    /// assert_eq!(bytes("1234"), Ok(2));
    /// assert_eq!(bytes("123.4"), Ok(3));
    /// assert_eq!(bytes("0"), Ok(0));
    /// ```
    pub fn digit_bytes(&self) -> usize {
        usize::from(self.length).saturating_sub(2)
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        self.field.get(..usize::from(self.length)).unwrap_or_default()
    }

    /// Puts together digits without zeros at either end; `exponent` is the leading digit's.
    fn from_digits(negative: bool, digits: &[u8], exponent: i32) -> Result<Self> {
        if digits.is_empty() {
            return Ok(Self::ZERO);
        }
        if digits.len() > MAX_DIGITS {
            return Err(Error::value(format!(
                "the decimal has {} significant digits, and {MAX_DIGITS} can be stored",
                digits.len()
            )));
        }
        if !(MIN_EXPONENT..=MAX_EXPONENT).contains(&exponent) {
            return Err(out_of_range());
        }
        let sign = if negative { tag::DECIMAL_NEGATIVE } else { tag::DECIMAL_POSITIVE };
        let complement = if negative { 0xFF } else { 0 };
        let mut decimal = Decimal { field: [0; MAX_BYTES], length: 0 };
        decimal.append(sign);
        // The point stands before the first pair, and a lone leading digit is the second of its
        // pair: 5 is 0.05 times 100, 50 is 0.50 times 100.
        let exponent_100 = (exponent + 2).div_euclid(2);
        decimal.append((EXPONENT_BIAS + exponent_100) as u8 ^ complement);
        let lone = exponent.rem_euclid(2) == 0;
        let mut digits = digits.iter().copied();
        let mut pair = if lone { digits.next() } else { next_pair(&mut digits) };
        while let Some(value) = pair {
            pair = next_pair(&mut digits);
            decimal.append((value << 1 | u8::from(pair.is_some())) ^ complement);
        }
        Ok(decimal)
    }

    fn append(&mut self, byte: u8) {
        if let Some(slot) = self.field.get_mut(usize::from(self.length)) {
            *slot = byte;
            self.length += 1;
        }
    }

    /// The digits without zeros at either end, how many there are, and the leading one's exponent.
    fn digits(&self) -> ([u8; 2 * MAX_PAIRS], usize, i32) {
        let complement = if self.is_negative() { 0xFF } else { 0 };
        let mut payload = self.as_bytes().iter().skip(1).map(|byte| byte ^ complement);
        let mut exponent = match payload.next() {
            Some(biased) => 2 * (i32::from(biased) - EXPONENT_BIAS) - 1,
            None => 0,
        };
        let mut digits = [0; 2 * MAX_PAIRS];
        let mut count = 0;
        let each = payload.flat_map(|byte| [(byte >> 1) / 10, (byte >> 1) % 10]);
        for digit in each {
            if count == 0 && digit == 0 {
                exponent -= 1;
            } else if let Some(slot) = digits.get_mut(count) {
                *slot = digit;
                count += 1;
            }
        }
        while count > 0 && digits.get(count - 1) == Some(&0) {
            count -= 1;
        }
        (digits, count, exponent)
    }

    fn write_to(&self, out: &mut impl fmt::Write) -> fmt::Result {
        const ZEROS: &str = "0000000000000000000000000000000000000000";
        let zeros = |count: usize| ZEROS.get(..count).unwrap_or(ZEROS);
        let (mut digits, count, exponent) = self.digits();
        digits.iter_mut().for_each(|digit| *digit += b'0');
        let digits = digits.get(..count).unwrap_or_default();
        let digits = std::str::from_utf8(digits).map_err(|_| fmt::Error)?;
        if self.is_negative() {
            out.write_str("-")?;
        }
        let is_plain = (-7..40).contains(&exponent);
        let places = match exponent {
            0..40 => exponent as usize + 1,
            -7..0 => 0,
            _ => 1,
        };
        let (whole, fraction) = digits.split_at(places.min(count));
        match exponent {
            _ if count == 0 => out.write_str("0")?,
            -7..0 => {
                out.write_str("0.")?;
                out.write_str(zeros((-1 - exponent) as usize))?;
            }
            _ => {
                out.write_str(whole)?;
                out.write_str(zeros(places.saturating_sub(count)))?;
                if !fraction.is_empty() {
                    out.write_str(".")?;
                }
            }
        }
        out.write_str(fraction)?;
        if is_plain { Ok(()) } else { write!(out, "E{exponent:+}") }
    }
}

fn next_pair(digits: &mut impl Iterator<Item = u8>) -> Option<u8> {
    let tens = digits.next()?;
    Some(tens * 10 + digits.next().unwrap_or(0))
}

#[cold]
fn out_of_range() -> Error {
    Error::value("the decimal's magnitude is not from 1e-130 to below 1e126, and not zero")
}

impl FromStr for Decimal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let malformed = || Error::value(format!("{:?} is not a decimal number", shorten(text)));
        let (negative, unsigned) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let mut parts = unsigned.splitn(2, |byte| matches!(byte, b'e' | b'E'));
        let mantissa = parts.next().unwrap_or_default();
        let mut exponent = match parts.next() {
            None => -1,
            Some(digits) => parse_exponent(digits).ok_or_else(malformed)?.saturating_sub(1),
        };
        let mut digits = Vec::with_capacity(MAX_DIGITS);
        let (mut seen, mut point) = (false, false);
        for byte in mantissa {
            match byte {
                b'0'..=b'9' => {
                    seen = true;
                    if !point {
                        exponent = exponent.saturating_add(1);
                    }
                    if digits.is_empty() && *byte == b'0' {
                        exponent = exponent.saturating_sub(1);
                    } else {
                        digits.push(byte - b'0');
                    }
                }
                b'.' if !point => point = true,
                _ => return Err(malformed()),
            }
        }
        if !seen {
            return Err(malformed());
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Self::from_digits(negative, &digits, exponent)
    }
}

fn parse_exponent(digits: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(digits).ok()?;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Beyond the range of an i32 the number is out of range anyway, unless it is zero.
    let magnitude = unsigned.parse::<i32>().unwrap_or(i32::MAX / 2).min(i32::MAX / 2);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// At most 20 digits and an exponent of at most 19: always in range.
fn from_integer(negative: bool, mut magnitude: u64) -> Decimal {
    let mut digits = Vec::with_capacity(20);
    while magnitude > 0 {
        digits.push((magnitude % 10) as u8);
        magnitude /= 10;
    }
    let exponent = digits.len() as i32 - 1;
    let significant = digits.iter().copied().skip_while(|digit| *digit == 0);
    let digits: Vec<u8> = significant.collect::<Vec<_>>().into_iter().rev().collect();
    Decimal::from_digits(negative, &digits, exponent).unwrap_or(Decimal::ZERO)
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        from_integer(value < 0, value.unsigned_abs())
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        from_integer(false, value)
    }
}

impl From<u32> for Decimal {
    fn from(value: u32) -> Self {
        u64::from(value).into()
    }
}

impl From<i32> for Decimal {
    fn from(value: i32) -> Self {
        i64::from(value).into()
    }
}

impl fmt::Display for Decimal {
    /// Plain digits where that takes at most 7 zeros before them or 40 places; else `d.dddE±n`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_none() && f.precision().is_none() {
            return self.write_to(f);
        }
        let mut text = String::new();
        self.write_to(&mut text)?;
        f.pad(&text)
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decimal({self})")
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl ToKey for Decimal {
    fn field_type() -> Type {
        Type::Decimal
    }

    #[inline]
    fn write_to(&self, out: &mut Vec<u8>) {
        // A copy of known size and a cut are cheaper than a copy of unknown size.
        let end = out.len() + usize::from(self.length);
        out.extend_from_slice(&self.field);
        out.truncate(end);
    }
}

impl<'k> FromKey<'k> for Decimal {
    fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
        let negative = match reader.peek() {
            Some(tag::DECIMAL_ZERO) => {
                reader.skip_byte();
                return Ok(Decimal::ZERO);
            }
            Some(tag::DECIMAL_NEGATIVE) => true,
            Some(tag::DECIMAL_POSITIVE) => false,
            _ => {
                return Err(reader.clone().wrong_tag(&[
                    tag::DECIMAL_NEGATIVE,
                    tag::DECIMAL_ZERO,
                    tag::DECIMAL_POSITIVE,
                ]));
            }
        };
        let mask = reader.mask();
        let field = take_field(reader, if negative { !mask } else { mask })?;
        let mut decimal = Decimal { field: [0; MAX_BYTES], length: field.len() as u8 };
        for (to, from) in decimal.field.iter_mut().zip(field) {
            *to = from ^ mask;
        }
        Ok(decimal)
    }
}

/// The tag, the exponent, and the pairs up to the first that no other follows. They are looked at
/// and copied together, because to do so one by one takes longer.
fn take_field<'k>(reader: &mut KeyReader<'k>, complement: u8) -> Result<&'k [u8]> {
    let start = reader.offset();
    let pairs = reader.rest().iter().skip(2);
    let length = 3 + pairs.take_while(|byte| (**byte ^ complement) & 1 == 1).count();
    check_bytes(reader.rest().get(1..).unwrap_or_default(), length - 1, start + 1, complement)?;
    let field = reader.take_raw(length)?;
    let pair = |byte: Option<&u8>| byte.map_or(0, |byte| (byte ^ complement) >> 1);
    let (first, last) = (pair(field.get(2)), pair(field.last()));
    if last == 0 {
        let offset = start + length - 1;
        return Err(Error::key(offset, "a trailing pair of zeros, which is not stored"));
    }
    let digits = 2 * (length - 2) - usize::from(first < 10) - usize::from(last.is_multiple_of(10));
    if digits > MAX_DIGITS {
        return Err(Error::key(start + 2, "more than 38 significant digits"));
    }
    Ok(field)
}

/// Checks the exponent and the pairs as far as the key goes.
fn check_bytes(bytes: &[u8], length: usize, start: usize, complement: u8) -> Result<()> {
    let [exponent, pairs @ ..] = bytes.get(..length).unwrap_or(bytes) else { return Ok(()) };
    // Any first pair from 01 to 99 keeps these exponents to base 100 within the range.
    if !(0x40..=0xBF).contains(&(exponent ^ complement)) {
        return Err(Error::key(start, "the decimal's exponent is out of range"));
    }
    if let Some(at) = pairs.iter().position(|byte| (byte ^ complement) >> 1 > 99) {
        return Err(Error::key(start + 1 + at, "the pair of digits is above 99"));
    }
    if pairs.first().is_some_and(|byte| (byte ^ complement) >> 1 == 0) {
        return Err(Error::key(start + 1, "a leading pair of zeros, which is not stored"));
    }
    Ok(())
}
