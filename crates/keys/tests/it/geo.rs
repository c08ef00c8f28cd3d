//! Points: the curves, and the ranges of a box.

use std::collections::HashSet;

use proptest::prelude::*;
use stonecrop_keys::{KeyRange, Point2, Point3, Schema, Value};

use crate::model::{orders, run};

fn schema(ty: &str) -> Schema {
    format!("at {ty}, id u8").parse().unwrap()
}

fn key(schema: &Schema, point: impl Into<Value<'static>>) -> Vec<u8> {
    schema.encode(&[point.into(), 0.into()]).unwrap()
}

/// How many points lie in the ranges.
fn size(ranges: &[KeyRange], bytes: usize) -> u128 {
    let index = |key: &[u8]| {
        let mut padded = key[1..].to_vec();
        padded.resize(bytes, 0);
        padded.iter().fold(u128::from(key[0]), |n, byte| n << 8 | u128::from(*byte))
    };
    ranges.iter().map(|range| index(range.end.as_ref().unwrap()) - index(&range.start)).sum()
}

fn check_box<const D: usize>(
    curve: &str,
    corners: [[u32; D]; 2],
    inside: [u32; D],
    most: usize,
    point: impl Fn([u32; D]) -> Value<'static>,
) -> Result<(), TestCaseError> {
    let schema = schema(curve);
    let low: [u32; D] = std::array::from_fn(|i| corners[0][i].min(corners[1][i]));
    let high: [u32; D] = std::array::from_fn(|i| corners[0][i].max(corners[1][i]));
    let ranges = schema.box_ranges(&[], &point(low), &point(high), most).unwrap();
    prop_assert!((1..=most).contains(&ranges.len()));
    let ordered = |pair: &[KeyRange]| pair[0].end.as_ref().unwrap() <= &pair[1].start;
    prop_assert!(ranges.windows(2).all(ordered));
    for probe in [low, high, std::array::from_fn(|i| inside[i].clamp(low[i], high[i]))] {
        let key = key(&schema, point(probe));
        prop_assert_eq!(ranges.iter().filter(|range| range.contains(&key)).count(), 1);
    }
    Ok(())
}

#[test]
fn the_ranges_of_a_box_hold_every_point_of_it() {
    let input = (any::<[[u32; 3]; 2]>(), any::<[u32; 3]>(), 1..40_usize, 0..28_u32);
    run(&input, |(corners, inside, most, shift)| {
        let (corners, inside) =
            (corners.map(|c| c.map(|n| n >> shift)), inside.map(|n| n >> shift));
        let flat = |[x, y, _]: [u32; 3]| [x, y];
        for (direction, _) in orders() {
            let word = if direction == Default::default() { "" } else { " desc" };
            for curve in ["geo2", "geo2(hilbert)"] {
                let ty = format!("{curve}{word}");
                let point = |cell| Value::Point2(Point2::from(cell));
                check_box(&ty, corners.map(flat), flat(inside), most, point)?;
            }
        }
        check_box("geo3", corners, inside, most, |cell| Value::Point3(cell.into()))?;
        check_box("geo3(hilbert)", corners, inside, most, |cell| Value::Point3(cell.into()))
    });
}

#[test]
fn the_ranges_of_a_box_around_the_world_hold_every_point_of_it_once() {
    let input = (any::<[u32; 2]>(), any::<[u32; 2]>(), any::<[u32; 2]>(), 1..40_usize);
    run(&input, |([x1, x2], ys, [x, y], most)| {
        // From the eastern side to the western one, by way of the antimeridian.
        let (low_x, high_x) = (x1.max(x2), x1.min(x2));
        let (low_y, high_y) = (ys[0].min(ys[1]), ys[0].max(ys[1]));
        let (low, high) = (Point2 { x: low_x, y: low_y }, Point2 { x: high_x, y: high_y });
        let x = if (high_x..low_x).contains(&x) { low_x } else { x };
        for ty in ["geo2", "geo2(hilbert)", "geo2 desc"] {
            let schema = schema(ty);
            let ranges = schema.box_ranges(&[], &low.into(), &high.into(), most).unwrap();
            prop_assert!((1..=most).contains(&ranges.len()));
            let ordered = |pair: &[KeyRange]| pair[0].end.as_ref().unwrap() <= &pair[1].start;
            prop_assert!(ranges.windows(2).all(ordered));
            for probe in [low, high, Point2 { x, y: y.clamp(low_y, high_y) }] {
                let key = key(&schema, probe);
                prop_assert_eq!(ranges.iter().filter(|range| range.contains(&key)).count(), 1);
            }
        }
        Ok(())
    });
}

#[test]
fn with_enough_ranges_the_box_is_exact_and_with_few_it_is_close() {
    let schema = schema("geo2(hilbert)");
    let (low, high) = (Point2 { x: 1003, y: 517 }, Point2 { x: 1018, y: 530 });
    let ranges = |most| schema.box_ranges(&[], &low.into(), &high.into(), most).unwrap();
    assert_eq!(size(&ranges(1_024), 8), 16 * 14);
    assert!(size(&ranges(8), 8) < 2 * 16 * 14);
}

#[test]
fn a_box_over_the_antimeridian_holds_both_sides_and_not_the_middle() {
    let schema = schema("geo2");
    let low = Point2::from_degrees(170.0, -20.0).unwrap();
    let high = Point2::from_degrees(-170.0, 20.0).unwrap();
    let ranges = schema.box_ranges(&[], &low.into(), &high.into(), 16).unwrap();
    assert!(ranges.len() <= 16);
    let holds = |longitude| {
        let key = key(&schema, Point2::from_degrees(longitude, 0.0).unwrap());
        ranges.iter().any(|range| range.contains(&key))
    };
    assert!(holds(175.0) && holds(-175.0) && holds(180.0) && holds(-180.0));
    assert!(!holds(0.0) && !holds(90.0));
}

#[test]
fn a_box_needs_a_point_field() {
    let schema: Schema = "at u8".parse().unwrap();
    let point = Value::Point2(Point2 { x: 0, y: 0 });
    let error = schema.box_ranges(&[], &point, &point, 4).unwrap_err();
    assert_eq!(error.field(), Some("at"));
}

/// Along the Hilbert curve each step goes to a neighbour, and no cell comes twice.
fn check_steps<const D: usize>(ty: &str, bytes: usize, cell: impl Fn(&Value<'_>) -> [u32; D]) {
    let schema: Schema = format!("at {ty}").parse().unwrap();
    let tag = schema.encode(&[if D == 2 {
        Value::Point2(Point2 { x: 0, y: 0 })
    } else {
        Value::Point3(Point3 { x: 0, y: 0, z: 0 })
    }]);
    let tag = tag.unwrap()[0];
    let mut seen = HashSet::new();
    let mut previous: Option<[u32; D]> = None;
    // From zero, and across the middle of the curve, where the highest bits change.
    for start in [0, (1_u128 << (8 * bytes - 1)) - 2_048] {
        previous = None.or(previous.filter(|_| start == 0));
        for index in start..start + 4_096 {
            let mut key = vec![tag];
            key.extend_from_slice(&index.to_be_bytes()[16 - bytes..]);
            let now = cell(&schema.decode(&key).unwrap()[0]);
            assert!(seen.insert(now), "{now:?} comes twice");
            if let Some(before) = previous {
                let distance: u32 = before.iter().zip(now).map(|(a, b)| a.abs_diff(b)).sum();
                assert_eq!(distance, 1, "{before:?} to {now:?}");
            }
            previous = Some(now);
        }
    }
}

#[test]
fn the_hilbert_curve_goes_from_neighbour_to_neighbour() {
    check_steps("geo2(hilbert)", 8, |value| match value {
        Value::Point2(Point2 { x, y }) => [*x, *y],
        other => panic!("{other}"),
    });
    check_steps("geo3(hilbert)", 12, |value| match value {
        Value::Point3(Point3 { x, y, z }) => [*x, *y, *z],
        other => panic!("{other}"),
    });
}

#[test]
fn degrees_become_the_cell_that_they_lie_in() {
    run(&(any::<u32>(), any::<u32>(), any::<u32>()), |(x, y, z)| {
        let point = Point3 { x, y, z };
        let [longitude, latitude, altitude] = point.to_degrees();
        prop_assert_eq!(Point3::from_degrees(longitude, latitude, altitude).unwrap(), point);
        Ok(())
    });
    let edges = Point2::from_degrees(180.0, 90.0).unwrap();
    assert_eq!(edges, Point2 { x: u32::MAX, y: u32::MAX });
    assert!(Point2::from_degrees(f64::NAN, 0.0).is_err());
    assert!(Point2::from_degrees(180.1, 0.0).is_err());
}
