//! Groups of bars, each as long as a figure is a multiple of another, on a logarithmic scale.

use std::fmt::Write;

use anyhow::Result;

use crate::number::times;
use crate::plot::svg::{Picture, WIDTH, text};

const GAP: f64 = 30.0;
/// The room right of the axis for the number at the longest bar.
const NUMBER: f64 = 42.0;
const TOP: f64 = 112.0;
const BAR: f64 = 13.0;
const BAR_STEP: f64 = 15.0;
const GROUP_GAP: f64 = 16.0;
/// How many half decades can each have a label.
const MOST_LABELS: i32 = 6;

/// What is plotted.
pub(crate) struct Bars {
    pub(crate) title: &'static str,
    pub(crate) subtitle: &'static str,
    /// What the bars are multiples of.
    pub(crate) unit: &'static str,
    /// The titles of the panels, from left to right.
    pub(crate) panels: Vec<&'static str>,
    /// The names and colours of the bars in a group.
    pub(crate) series: Vec<(&'static str, &'static str)>,
    /// The room for the labels of the groups.
    pub(crate) labels: f64,
    pub(crate) groups: Vec<Group>,
}

/// The bars of one label.
pub(crate) struct Group {
    pub(crate) label: String,
    /// For each panel the ratio of each series, if there is one.
    pub(crate) ratios: Vec<Vec<Option<f64>>>,
}

impl Group {
    /// As high as the panel with the most bars.
    fn height(&self) -> f64 {
        let bars = self.ratios.iter().map(|panel| panel.iter().flatten().count());
        bars.max().unwrap_or(0) as f64 * BAR_STEP
    }
}

impl Bars {
    /// The whole picture.
    pub(crate) fn svg(&self) -> Result<String> {
        let tops: Vec<f64> = self
            .groups
            .iter()
            .scan(TOP, |next, group| {
                let top = *next;
                *next += group.height() + GROUP_GAP;
                Some(top)
            })
            .collect();
        let last = tops.last().zip(self.groups.last());
        let bottom = last.map_or(TOP, |(top, group)| top + group.height());
        let axis = Axis::around(self);
        let what = format!("{}, as a multiple of {}", self.title, self.unit);
        let picture = Picture { title: self.title, subtitle: self.subtitle, what: &what };
        let mut svg = picture.begin(bottom + 34.0, &self.series)?;
        for (panel, title) in self.panels.iter().enumerate() {
            let left = self.labels + panel as f64 * (axis.width + NUMBER + GAP);
            axis.draw(&mut svg, title, self.unit, left, bottom)?;
            for (group, top) in self.groups.iter().zip(&tops) {
                let ratios = group.ratios.get(panel).map_or(&[][..], Vec::as_slice);
                self.bars(&mut svg, ratios, *top, &axis, left)?;
            }
        }
        for (group, top) in self.groups.iter().zip(&tops) {
            let middle = top + group.height() / 2.0 + 4.0;
            text(&mut svg, self.labels - 12.0, middle, "text-anchor=\"end\"", &group.label)?;
        }
        svg.push_str("</svg>\n");
        Ok(svg)
    }

    fn bars(
        &self,
        svg: &mut String,
        ratios: &[Option<f64>],
        top: f64,
        axis: &Axis,
        left: f64,
    ) -> Result<()> {
        let mut y = top;
        for ((_, colour), ratio) in self.series.iter().zip(ratios) {
            let Some(ratio) = *ratio else { continue };
            let length = axis.place(ratio);
            writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"2\" \
                 fill=\"{colour}\"/>",
            )?;
            // A white rim, where the number stands on a line.
            let style =
                "font-size=\"10.5\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"";
            text(svg, left + length + 5.0, y + 10.5, style, &times(ratio))?;
            y += BAR_STEP;
        }
        Ok(())
    }
}

/// The scale of every panel.
struct Axis {
    width: f64,
    /// The decimal logarithms of the ratios at both ends.
    first: f64,
    last: f64,
}

impl Axis {
    /// From the shortest bar to the longest, in half decades.
    fn around(chart: &Bars) -> Self {
        let panels = chart.panels.len() as f64;
        let width = (WIDTH - chart.labels - GAP * (panels - 1.0)) / panels - NUMBER;
        let mut axis = Axis { width, first: -0.5, last: 1.0 };
        for ratio in chart.groups.iter().flat_map(|group| group.ratios.iter().flatten().flatten()) {
            let power = 2.0 * ratio.log10();
            axis.first = axis.first.min(power.floor() / 2.0);
            axis.last = axis.last.max(power.ceil() / 2.0);
        }
        axis
    }

    fn place(&self, ratio: f64) -> f64 {
        (ratio.log10() - self.first) / (self.last - self.first) * self.width
    }

    fn draw(
        &self,
        svg: &mut String,
        title: &str,
        unit: &str,
        left: f64,
        bottom: f64,
    ) -> Result<()> {
        text(svg, left, TOP - 28.0, "font-size=\"14\" font-weight=\"600\"", title)?;
        let steps = (2.0 * (self.last - self.first)).round() as i32;
        for step in 0..=steps {
            let power = self.first + f64::from(step) / 2.0;
            let x = left + self.place(10_f64.powf(power));
            // There is no room for all of them where there are many.
            let has_room = steps <= MOST_LABELS;
            let is_told = has_room || power.fract() == 0.0;
            let unit = if has_room { unit } else { "" };
            let (colour, label) = if power == 0.0 {
                ("#52606d", format!("1× {unit}").trim_end().to_owned())
            } else {
                ("#e4e7eb", format!("{}×", one_digit(power)))
            };
            writeln!(
                svg,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
                TOP - 6.0,
                bottom + 6.0
            )?;
            if !is_told {
                continue;
            }
            let style = "text-anchor=\"middle\" fill=\"#52606d\" font-size=\"11\"";
            text(svg, x, bottom + 20.0, style, &label)?;
            text(svg, x, TOP - 10.0, style, &label)?;
        }
        Ok(())
    }
}

/// 3, and not 3.16, is what people call the middle between 1 and 10.
fn one_digit(power: f64) -> String {
    let decade = 10_f64.powf(power.floor());
    let digit = if power.fract() == 0.0 { 1.0 } else { 3.0 };
    let places = if decade < 1.0 { -power.floor() as usize } else { 0 };
    format!("{:.places$}", digit * decade)
}
