//! Lines in panels side by side, on logarithmic scales that all panels share.

use std::fmt::Write;

use anyhow::Result;

use crate::plot::svg::{Picture, WIDTH, text};

const LEFT: f64 = 84.0;
const RIGHT: f64 = 40.0;
/// Wide enough for the numbers below the ends of two neighbours.
const GAP: f64 = 64.0;
const TOP: f64 = 104.0;
const HEIGHT: f64 = 230.0;

/// What is plotted.
pub(crate) struct Lines {
    pub(crate) title: &'static str,
    pub(crate) subtitle: &'static str,
    /// The names and colours of the lines in a panel.
    pub(crate) series: Vec<(&'static str, &'static str)>,
    /// A number as it stands at either scale.
    pub(crate) across: fn(f64) -> String,
    pub(crate) upwards: fn(f64) -> String,
    pub(crate) panels: Vec<Panel>,
}

/// Lines that belong together.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    /// A line for each series.
    pub(crate) lines: Vec<Line>,
}

/// Points from left to right.
pub(crate) type Line = Vec<(f64, f64)>;

impl Lines {
    /// The whole picture.
    pub(crate) fn svg(&self) -> Result<String> {
        let points = || self.panels.iter().flat_map(|panel| panel.lines.iter().flatten());
        let across = Scale::around(points().map(|(x, _)| *x));
        let upwards = Scale::around(points().map(|(_, y)| *y));
        let count = self.panels.len() as f64;
        let width = (WIDTH - LEFT - RIGHT - GAP * (count - 1.0)) / count;
        let picture = Picture { title: self.title, subtitle: self.subtitle, what: self.title };
        let mut svg = picture.begin(TOP + HEIGHT + 40.0, &self.series)?;
        for power in upwards.powers() {
            let y = TOP + HEIGHT * (1.0 - upwards.place(power));
            let end = "text-anchor=\"end\" fill=\"#52606d\" font-size=\"11\"";
            let label = (self.upwards)(10_f64.powi(power));
            text(&mut svg, LEFT - 8.0, y + 4.0, end, &label)?;
            let (left, right) = (LEFT, WIDTH - RIGHT);
            line(&mut svg, (left, y), (right, y))?;
        }
        for (number, panel) in self.panels.iter().enumerate() {
            let left = LEFT + number as f64 * (width + GAP);
            text(&mut svg, left, TOP - 16.0, "font-size=\"13\" font-weight=\"600\"", panel.title)?;
            for power in across.powers() {
                let x = left + width * across.place(power);
                line(&mut svg, (x, TOP), (x, TOP + HEIGHT))?;
                let middle = "text-anchor=\"middle\" fill=\"#52606d\" font-size=\"11\"";
                let label = (self.across)(10_f64.powi(power));
                text(&mut svg, x, TOP + HEIGHT + 18.0, middle, &label)?;
            }
            for (points, (_, colour)) in panel.lines.iter().zip(&self.series) {
                let place = |(x, y): &(f64, f64)| {
                    let x = left + width * across.part(x.log10());
                    (x, TOP + HEIGHT * (1.0 - upwards.part(y.log10())))
                };
                curve(&mut svg, &points.iter().map(place).collect::<Vec<_>>(), colour)?;
            }
        }
        svg.push_str("</svg>\n");
        Ok(svg)
    }
}

/// Whole decades from the smallest number to the largest.
struct Scale {
    first: i32,
    last: i32,
}

impl Scale {
    fn around(numbers: impl Iterator<Item = f64>) -> Self {
        let logs = || (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) =
            numbers.map(f64::log10).fold(logs(), |(low, high), log| (low.min(log), high.max(log)));
        let first = low.floor() as i32;
        Scale { first, last: (high.ceil() as i32).max(first + 1) }
    }

    fn powers(&self) -> impl Iterator<Item = i32> + use<> {
        self.first..=self.last
    }

    fn place(&self, power: i32) -> f64 {
        self.part(f64::from(power))
    }

    /// Which part of the way from the first to the last.
    fn part(&self, log: f64) -> f64 {
        (log - f64::from(self.first)) / f64::from(self.last - self.first)
    }
}

fn line(svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Result<()> {
    writeln!(
        svg,
        "<line x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\" stroke=\"#e4e7eb\"/>"
    )?;
    Ok(())
}

/// A line through points, with a dot at each.
fn curve(svg: &mut String, points: &[(f64, f64)], colour: &str) -> Result<()> {
    write!(svg, "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\" points=\"")?;
    for (x, y) in points {
        write!(svg, "{x:.1},{y:.1} ")?;
    }
    svg.push_str("\"/>\n");
    for (x, y) in points {
        writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>")?;
    }
    Ok(())
}
