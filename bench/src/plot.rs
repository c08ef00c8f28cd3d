//! The plot of the report: for each case and codec a bar, as long as the codec's time is a
//! multiple of memcpy's, on a logarithmic scale.

use std::fmt::Write;

use anyhow::Result;
use stonecrop_bench::{CASES, CODECS, Case, MEMCPY, Operation};

use crate::samples::Samples;
use crate::table::times;

/// In the order of [`CODECS`], and different from each other for the colour-blind too.
const COLOURS: [&str; 5] = ["#00795a", "#8ccfb8", "#cc79a7", "#e69f00", "#56a5dc"];

const WIDTH: f64 = 1080.0;
const LABELS: f64 = 190.0;
const GAP: f64 = 30.0;
/// The room right of the axis for the number at the longest bar.
const NUMBER: f64 = 42.0;
const PANEL: f64 = (WIDTH - LABELS - GAP) / 2.0 - NUMBER;
const TOP: f64 = 112.0;
const BAR: f64 = 13.0;
const BAR_STEP: f64 = 15.0;
const GROUP_GAP: f64 = 16.0;

/// The whole picture.
pub(crate) fn svg(samples: &Samples) -> Result<String> {
    let groups = groups(samples);
    let bottom = groups.last().map_or(TOP, |group| group.top + group.height);
    let axis = Axis::around(samples)?;
    let mut svg = String::new();
    write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" \
         font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"12\" \
         fill=\"#1f2933\">\n\
         <title>Encoding and decoding keys, as a multiple of memcpy</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        bottom + 34.0
    )?;
    text(
        &mut svg,
        20.0,
        32.0,
        "font-size=\"18\" font-weight=\"600\"",
        "Encoding and decoding keys",
    )?;
    let subtitle =
        "Time as a multiple of copying the same bytes; less is better; the scale is logarithmic";
    text(&mut svg, 20.0, 52.0, "fill=\"#52606d\"", subtitle)?;
    legend(&mut svg)?;
    for (operation, left) in Operation::ALL.into_iter().zip([LABELS, LABELS + PANEL + NUMBER + GAP])
    {
        axis.draw(&mut svg, operation, left, bottom)?;
        for group in &groups {
            bars(&mut svg, samples, operation, group, |ratio| left + axis.place(ratio), left)?;
        }
    }
    for group in &groups {
        let middle = group.top + group.height / 2.0 + 4.0;
        text(&mut svg, LABELS - 12.0, middle, "text-anchor=\"end\"", group.case.title)?;
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// The bars of one case, as high as it has codecs.
struct Group {
    case: Case,
    top: f64,
    height: f64,
}

fn groups(samples: &Samples) -> Vec<Group> {
    let mut top = TOP;
    let mut groups = Vec::new();
    for case in CASES {
        let codecs = CODECS.into_iter();
        let count = codecs.filter(|codec| samples.find(Operation::Encode, case, codec).is_some());
        let height = count.count() as f64 * BAR_STEP;
        groups.push(Group { case, top, height });
        top += height + GROUP_GAP;
    }
    groups
}

/// The decimal logarithms of the ratios at both ends.
struct Axis {
    first: f64,
    last: f64,
}

impl Axis {
    /// From the shortest bar to the longest, in half decades.
    fn around(samples: &Samples) -> Result<Self> {
        let mut axis = Axis { first: -0.5, last: 1.0 };
        for operation in Operation::ALL {
            for case in CASES {
                let memcpy = samples.get(operation, case, MEMCPY)?;
                for ns in CODECS.iter().filter_map(|codec| samples.find(operation, case, codec)) {
                    let power = 2.0 * (ns / memcpy).log10();
                    axis.first = axis.first.min(power.floor() / 2.0);
                    axis.last = axis.last.max(power.ceil() / 2.0);
                }
            }
        }
        Ok(axis)
    }

    fn place(&self, ratio: f64) -> f64 {
        (ratio.log10() - self.first) / (self.last - self.first) * PANEL
    }

    fn draw(&self, svg: &mut String, operation: Operation, left: f64, bottom: f64) -> Result<()> {
        text(svg, left, TOP - 28.0, "font-size=\"14\" font-weight=\"600\"", operation.name())?;
        let steps = (2.0 * (self.last - self.first)).round() as i32;
        for step in 0..=steps {
            let power = self.first + f64::from(step) / 2.0;
            let x = left + power_place(self, power);
            let (colour, label) = if power == 0.0 {
                ("#52606d", "1× memcpy".to_owned())
            } else {
                ("#e4e7eb", format!("{}×", one_digit(power)))
            };
            writeln!(
                svg,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
                TOP - 6.0,
                bottom + 6.0
            )?;
            let style = "text-anchor=\"middle\" fill=\"#52606d\" font-size=\"11\"";
            text(svg, x, bottom + 20.0, style, &label)?;
            text(svg, x, TOP - 10.0, style, &label)?;
        }
        Ok(())
    }
}

fn power_place(axis: &Axis, power: f64) -> f64 {
    axis.place(10_f64.powf(power))
}

/// 3, and not 3.16, is what people call the middle between 1 and 10.
fn one_digit(power: f64) -> String {
    let decade = 10_f64.powf(power.floor());
    let digit = if power.fract() == 0.0 { 1.0 } else { 3.0 };
    let places = if decade < 1.0 { -power.floor() as usize } else { 0 };
    format!("{:.places$}", digit * decade)
}

fn legend(svg: &mut String) -> Result<()> {
    let mut x = WIDTH - 20.0;
    for (codec, colour) in CODECS.iter().zip(COLOURS).rev() {
        x -= 7.3 * codec.len() as f64;
        text(svg, x, 31.0, "", codec)?;
        x -= 18.0;
        writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"21\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{colour}\"/>"
        )?;
        x -= 16.0;
    }
    Ok(())
}

fn bars(
    svg: &mut String,
    samples: &Samples,
    operation: Operation,
    group: &Group,
    place: impl Fn(f64) -> f64,
    left: f64,
) -> Result<()> {
    let memcpy = samples.get(operation, group.case, MEMCPY)?;
    let mut y = group.top;
    for (codec, colour) in CODECS.iter().zip(COLOURS) {
        let Some(ns) = samples.find(operation, group.case, codec) else { continue };
        let end = place(ns / memcpy);
        writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"2\" \
             fill=\"{colour}\"/>",
            end - left
        )?;
        // A white rim, where the number stands on a line.
        let style =
            "font-size=\"10.5\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"";
        text(svg, end + 5.0, y + 10.5, style, &times(ns / memcpy))?;
        y += BAR_STEP;
    }
    Ok(())
}

fn text(svg: &mut String, x: f64, y: f64, style: &str, content: &str) -> Result<()> {
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{content}</text>")?;
    Ok(())
}
