//! Numbers as the report has them.

/// Three digits, or as many as there are before the point.
pub(crate) fn nanoseconds(ns: f64) -> String {
    format!("{} ns", short(ns))
}

/// A ratio, as "2.5×".
pub(crate) fn times(ratio: f64) -> String {
    format!("{}×", short(ratio))
}

/// A time, as "1,235 µs": three digits, or four that count.
pub(crate) fn microseconds(us: f64) -> String {
    format!("{} µs", rate(us))
}

/// How often a second: three digits, or four that count.
pub(crate) fn rate(number: f64) -> String {
    if number < 999.5 { short(number) } else { thousands(number) }
}

/// A whole number, as "1,234,500": no more than four digits mean anything.
pub(crate) fn thousands(number: f64) -> String {
    let digits = number.max(1.0).log10().floor() as i32 + 1;
    let unit = 10_f64.powi((digits - 4).max(0));
    let digits = format!("{:.0}", (number / unit).round() * unit);
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn short(number: f64) -> String {
    let places = match number {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{number:.places$}")
}

#[cfg(test)]
mod tests {
    use super::{rate, short, thousands};

    #[test]
    fn numbers_have_three_digits_or_all_before_the_point() {
        let numbers = [0.454, 9.994, 9.996, 31.25, 99.96, 1343.1].map(short);
        assert_eq!(numbers, ["0.45", "9.99", "10.0", "31.2", "100", "1343"]);
    }

    #[test]
    fn rates_have_digits_behind_the_point_where_they_are_small() {
        assert_eq!([7.126, 999.6, 54_321.0].map(rate), ["7.13", "1,000", "54,320"]);
    }

    #[test]
    fn large_numbers_have_four_digits_that_count() {
        let numbers = [0.4, 999.6, 1234.4, 54_321.0, 1_234_567.0].map(thousands);
        assert_eq!(numbers, ["0", "1,000", "1,234", "54,320", "1,235,000"]);
    }
}
