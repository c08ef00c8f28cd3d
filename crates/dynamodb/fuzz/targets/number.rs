//! Text is a number or an error; what is printed is read as the same, and sums can be undone.
#![no_main]

use stonecrop_dynamodb::value::{add, number_size, number_text, parse_number, subtract};

libfuzzer_sys::fuzz_target!(|input: (&str, &str)| {
    let Ok(a) = parse_number(input.0) else { return };
    let text = number_text(&a);
    assert!(!text.contains(['e', 'E']));
    assert_eq!(parse_number(&text).unwrap(), a);
    assert!((1..=22).contains(&number_size(&a)));
    let Ok(b) = parse_number(input.1) else { return };
    if let Ok(sum) = add(&a, &b) {
        assert_eq!(add(&b, &a).unwrap(), sum);
        assert_eq!(subtract(&sum, &b).unwrap(), a);
    }
});
