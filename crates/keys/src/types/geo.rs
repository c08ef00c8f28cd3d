//! Points on a grid of 2^32 cells a side, in the order of a space-filling curve: Morton (the bits
//! of the coordinates interleaved) or Hilbert (neighbours on the curve are neighbours in space).
//! A box becomes a short list of ranges of the curve.

use std::fmt;

use crate::decode::{FromKey, KeyReader};
use crate::encode::ToKey;
use crate::error::{Error, Result};
use crate::schema::Type;
use crate::tag;

/// The curve that orders points.
///
/// ```
/// use stonecrop_keys::{Curve, Schema, Type};
/// let schema: Schema = "at geo2(hilbert)".parse()?;
/// assert_eq!(schema.fields()[0].field_type(), &Type::Geo2(Curve::Hilbert));
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Curve {
    /// Cheap to compute; the default.
    Morton,
    /// Fewer, longer ranges for the same box.
    Hilbert,
}

/// A cell on the map: longitude and latitude, each in 2^32 steps (9 mm at the equator).
///
/// ```
/// use stonecrop_keys::Point2;
/// let berlin = Point2::from_degrees(13.405, 52.52)?;
/// let [longitude, latitude] = berlin.to_degrees();
/// assert!((longitude - 13.405).abs() < 1e-7 && (latitude - 52.52).abs() < 1e-7);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point2 {
    /// Steps of longitude, eastward from -180 degrees.
    pub x: u32,
    /// Steps of latitude, northward from -90 degrees.
    pub y: u32,
}

/// A cell in space: as [`Point2`], and the altitude in 2^32 steps of half a millimetre.
///
/// ```
/// use stonecrop_keys::Point3;
/// let summit = Point3::from_degrees(86.925, 27.988, 8_848.86)?;
/// assert!((summit.to_degrees()[2] - 8_848.86).abs() < 0.001);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point3 {
    /// Steps of longitude, eastward from -180 degrees.
    pub x: u32,
    /// Steps of latitude, northward from -90 degrees.
    pub y: u32,
    /// Steps of altitude, upward from -1,048,576 metres.
    pub z: u32,
}

const LONGITUDE: Axis = Axis { name: "longitude", least: -180.0, span: 360.0 };
const LATITUDE: Axis = Axis { name: "latitude", least: -90.0, span: 180.0 };
const ALTITUDE: Axis = Axis { name: "altitude", least: -1_048_576.0, span: 2_097_152.0 };
const STEPS: f64 = 4_294_967_296.0;

struct Axis {
    name: &'static str,
    least: f64,
    span: f64,
}

impl Axis {
    fn step(&self, value: f64) -> Result<u32> {
        let greatest = self.least + self.span;
        if !(self.least..=greatest).contains(&value) {
            let Axis { name, least, .. } = self;
            return Err(Error::value(format!(
                "the {name} {value} is not from {least} to {greatest}"
            )));
        }
        // The cast saturates, so that the upper edge falls into the last step.
        Ok(((value - self.least) / self.span * STEPS) as u32)
    }

    fn middle(&self, step: u32) -> f64 {
        (f64::from(step) + 0.5) / STEPS * self.span + self.least
    }
}

impl Point2 {
    /// The cell that holds this place. Longitude comes first, as in GeoJSON.
    ///
    /// ```
    /// let error = stonecrop_keys::Point2::from_degrees(0.0, 91.0).unwrap_err();
    /// assert_eq!(error.to_string(), "the latitude 91 is not from -90 to 90");
    /// ```
    pub fn from_degrees(longitude: f64, latitude: f64) -> Result<Self> {
        Ok(Point2 { x: LONGITUDE.step(longitude)?, y: LATITUDE.step(latitude)? })
    }

    /// Longitude and latitude of the middle of the cell.
    ///
    /// ```
    /// use stonecrop_keys::Point2;
    /// let [longitude, latitude] = Point2 { x: 1 << 31, y: 1 << 31 }.to_degrees();
    /// assert!(longitude < 1e-7 && latitude < 1e-7);
    /// ```
    pub fn to_degrees(self) -> [f64; 2] {
        [LONGITUDE.middle(self.x), LATITUDE.middle(self.y)]
    }
}

impl Point3 {
    /// The cell that holds this place: degrees, and metres from -1,048,576 to 1,048,576.
    ///
    /// ```
    /// assert!(stonecrop_keys::Point3::from_degrees(0.0, 0.0, 2e6).is_err());
    /// ```
    pub fn from_degrees(longitude: f64, latitude: f64, altitude: f64) -> Result<Self> {
        let Point2 { x, y } = Point2::from_degrees(longitude, latitude)?;
        Ok(Point3 { x, y, z: ALTITUDE.step(altitude)? })
    }

    /// Longitude, latitude and altitude of the middle of the cell.
    ///
    /// ```
    /// use stonecrop_keys::Point3;
    /// assert!(Point3 { x: 0, y: 0, z: 1 << 31 }.to_degrees()[2] < 0.001);
    /// ```
    pub fn to_degrees(self) -> [f64; 3] {
        let [longitude, latitude] = Point2 { x: self.x, y: self.y }.to_degrees();
        [longitude, latitude, ALTITUDE.middle(self.z)]
    }
}

impl fmt::Display for Point2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_degrees())
    }
}

impl fmt::Display for Point3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_degrees())
    }
}

/// A point that is stored in the order of the Hilbert curve.
///
/// ```
/// use stonecrop_keys::{Hilbert, KeyBuilder, Point2};
/// let mut buffer = Vec::new();
/// KeyBuilder::new(&mut buffer).push(Hilbert(Point2 { x: 0, y: 1 }));
/// assert_eq!(buffer, [0x51, 0, 0, 0, 0, 0, 0, 0, 3]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hilbert<P>(pub P);

macro_rules! points {
    ($($point:ty, $size:literal, [$($axis:ident)*], $morton:path, $hilbert:path, $type:path;)*) => {$(
        impl ToKey for $point {
            fn field_type() -> Type {
                $type(Curve::Morton)
            }

            fn write_to(&self, out: &mut Vec<u8>) {
                out.push($morton);
                write_index::<$size>(Curve::Morton.index([$(self.$axis),*]), out);
            }
        }

        impl<'k> FromKey<'k> for $point {
            fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
                let index = read_index(reader.take_fixed::<$size>($morton)?);
                let [$($axis),*] = Curve::Morton.point(index);
                Ok(Self { $($axis),* })
            }
        }

        impl ToKey for Hilbert<$point> {
            fn field_type() -> Type {
                $type(Curve::Hilbert)
            }

            fn write_to(&self, out: &mut Vec<u8>) {
                out.push($hilbert);
                write_index::<$size>(Curve::Hilbert.index([$(self.0.$axis),*]), out);
            }
        }

        impl<'k> FromKey<'k> for Hilbert<$point> {
            fn read_from(reader: &mut KeyReader<'k>) -> Result<Self> {
                let index = read_index(reader.take_fixed::<$size>($hilbert)?);
                let [$($axis),*] = Curve::Hilbert.point(index);
                Ok(Hilbert(<$point>::from([$($axis),*])))
            }
        }

        impl From<[u32; [$(stringify!($axis)),*].len()]> for $point {
            fn from([$($axis),*]: [u32; [$(stringify!($axis)),*].len()]) -> Self {
                Self { $($axis),* }
            }
        }

        impl From<$point> for [u32; [$(stringify!($axis)),*].len()] {
            fn from(point: $point) -> Self {
                [$(point.$axis),*]
            }
        }
    )*};
}

points! {
    Point2, 8, [x y], tag::GEO2_MORTON, tag::GEO2_HILBERT, Type::Geo2;
    Point3, 12, [x y z], tag::GEO3_MORTON, tag::GEO3_HILBERT, Type::Geo3;
}

/// An index is the last `SIZE` bytes of a big-endian u128.
fn write_index<const SIZE: usize>(index: u128, out: &mut Vec<u8>) {
    if let Some(bytes) = index.to_be_bytes().last_chunk::<SIZE>() {
        out.extend_from_slice(bytes);
    }
}

fn read_index<const SIZE: usize>(bytes: [u8; SIZE]) -> u128 {
    bytes.iter().fold(0, |index, byte| index << 8 | u128::from(*byte))
}

impl Curve {
    /// Where the cell lies on the curve.
    pub(crate) fn index<const D: usize>(self, mut cell: [u32; D]) -> u128 {
        if self == Curve::Hilbert {
            hilbert_forward(&mut cell);
        }
        let mut index = 0;
        for bit in (0..u32::BITS).rev() {
            for coordinate in cell {
                index = index << 1 | u128::from(coordinate >> bit & 1);
            }
        }
        index
    }

    /// The cell at this place of the curve.
    pub(crate) fn point<const D: usize>(self, mut index: u128) -> [u32; D] {
        let mut cell = [0; D];
        for bit in 0..u32::BITS {
            for coordinate in cell.iter_mut().rev() {
                *coordinate |= ((index & 1) as u32) << bit;
                index >>= 1;
            }
        }
        if self == Curve::Hilbert {
            hilbert_backward(&mut cell);
        }
        cell
    }
}

/// Skilling's transform ("Programming the Hilbert curve", 2004): turns coordinates into numbers
/// whose interleaved bits are the place on the curve. `docs/format.md` describes the steps.
fn hilbert_forward<const D: usize>(cell: &mut [u32; D]) {
    for bit in (1..u32::BITS).rev() {
        for axis in 0..D {
            turn(cell, axis, bit);
        }
    }
    let mut previous = 0;
    for coordinate in cell.iter_mut() {
        *coordinate ^= previous;
        previous = *coordinate;
    }
    let mut flip = 0;
    for bit in 1..u32::BITS {
        if previous >> bit & 1 == 1 {
            flip ^= (1 << bit) - 1;
        }
    }
    for coordinate in cell {
        *coordinate ^= flip;
    }
}

fn hilbert_backward<const D: usize>(cell: &mut [u32; D]) {
    let half = cell.last().map_or(0, |last| last >> 1);
    let before: [u32; D] = *cell;
    for (coordinate, previous) in cell.iter_mut().skip(1).zip(before) {
        *coordinate ^= previous;
    }
    if let Some(first) = cell.first_mut() {
        *first ^= half;
    }
    for bit in 1..u32::BITS {
        for axis in (0..D).rev() {
            turn(cell, axis, bit);
        }
    }
}

/// Below `bit`: reflects the first axis where `axis` has the bit, else exchanges the two.
/// Doing it twice undoes it.
fn turn<const D: usize>(cell: &mut [u32; D], axis: usize, bit: u32) {
    let low = (1 << bit) - 1;
    let (Some(&first), Some(&other)) = (cell.first(), cell.get(axis)) else { return };
    let (flip_first, flip_other) = if other >> bit & 1 == 1 {
        (low, 0)
    } else {
        let differ = (first ^ other) & low;
        (differ, differ)
    };
    if let Some(first) = cell.first_mut() {
        *first ^= flip_first;
    }
    if let Some(other) = cell.get_mut(axis) {
        *other ^= flip_other;
    }
}

/// How many squares are looked at for each range that is asked for: more of them fit the box
/// better, and beyond this the gain is small.
const SQUARES_PER_RANGE: usize = 16;

/// At most `most` ranges of the curve (first and last index) that together hold every cell from
/// `low` to `high`, in order, apart from each other. They may hold cells outside of the box.
pub(crate) fn cover<const D: usize>(
    curve: Curve,
    low: [u32; D],
    high: [u32; D],
    most: usize,
) -> Vec<(u128, u128)> {
    let most = most.max(1);
    if low.iter().zip(high).any(|(low, high)| *low > high) {
        return Vec::new();
    }
    let mut inside = Vec::new();
    let mut partly = vec![Square { corner: [0; D], bits: u32::BITS }];
    // Halve the squares on the border of the box until that would be too many to look at.
    while !partly.is_empty()
        && inside.len() + (partly.len() << D) <= most.saturating_mul(SQUARES_PER_RANGE)
    {
        let mut smaller = Vec::new();
        for square in partly.iter().flat_map(Square::quarters) {
            match square.overlap(low, high) {
                Overlap::None => {}
                Overlap::Partly => smaller.push(square),
                Overlap::Inside => inside.push(square),
            }
        }
        partly = smaller;
    }
    let mut ranges: Vec<_> =
        inside.iter().chain(&partly).map(|square| square.range(curve)).collect();
    ranges.sort_unstable();
    join(ranges, most)
}

struct Square<const D: usize> {
    corner: [u32; D],
    /// The side is 2^bits cells.
    bits: u32,
}

enum Overlap {
    None,
    Partly,
    Inside,
}

impl<const D: usize> Square<D> {
    fn quarters(&self) -> impl Iterator<Item = Square<D>> + '_ {
        let bits = self.bits.saturating_sub(1);
        (0..1_usize << D).map(move |which| {
            let mut corner = self.corner;
            for (axis, coordinate) in corner.iter_mut().enumerate() {
                *coordinate |= ((which >> axis & 1) as u32) << bits;
            }
            Square { corner, bits }
        })
    }

    fn overlap(&self, low: [u32; D], high: [u32; D]) -> Overlap {
        let side = ((1_u64 << self.bits) - 1) as u32;
        let mut inside = true;
        for ((corner, low), high) in self.corner.into_iter().zip(low).zip(high) {
            let end = corner | side;
            if corner > high || end < low {
                return Overlap::None;
            }
            inside &= low <= corner && end <= high;
        }
        if inside { Overlap::Inside } else { Overlap::Partly }
    }

    fn range(&self, curve: Curve) -> (u128, u128) {
        let cells = (1_u128 << (self.bits * D as u32)) - 1;
        let first = curve.index(self.corner) & !cells;
        (first, first | cells)
    }
}

/// Joins sorted ranges that overlap, then whatever has the smallest gaps between, until `most` are
/// left.
pub(crate) fn join(ranges: Vec<(u128, u128)>, most: usize) -> Vec<(u128, u128)> {
    let mut apart: Vec<(u128, u128)> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.0 <= last.1 => last.1 = last.1.max(range.1),
            _ => apart.push(range),
        }
    }
    let ranges = apart;
    let gap = |left: (u128, u128), right: (u128, u128)| right.0 - left.1 - 1;
    let mut gaps: Vec<u128> =
        ranges.iter().zip(ranges.iter().skip(1)).map(|(left, right)| gap(*left, *right)).collect();
    gaps.sort_unstable_by(|a, b| b.cmp(a));
    // A gap stays open if it is one of the widest `most - 1`; no gap at all never does.
    let widest = gaps.get(most - 1).map_or(0, |first_to_close| *first_to_close);
    let mut joined: Vec<(u128, u128)> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if gap(*last, range) <= widest => last.1 = range.1,
            _ => joined.push(range),
        }
    }
    joined
}
