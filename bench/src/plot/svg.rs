//! What all pictures have.

use std::fmt::Write;

use anyhow::Result;

pub(super) const WIDTH: f64 = 1080.0;
/// Where the title ends, and where the subtitle below it does.
const TITLES: [f64; 2] = [260.0, 560.0];

/// What is said about a picture.
pub(super) struct Picture<'p> {
    pub(super) title: &'p str,
    pub(super) subtitle: &'p str,
    /// For those who do not see it.
    pub(super) what: &'p str,
}

impl Picture<'_> {
    /// The beginning of a picture: what it is, and what the colours of the series are.
    pub(super) fn begin(&self, height: f64, series: &[(&str, &str)]) -> Result<String> {
        let mut svg = String::new();
        write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
             role=\"img\" \
             font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"12\" \
             fill=\"#1f2933\">\n\
             <title>{}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            self.what
        )?;
        text(&mut svg, 20.0, 32.0, "font-size=\"18\" font-weight=\"600\"", self.title)?;
        text(&mut svg, 20.0, 52.0, "fill=\"#52606d\"", self.subtitle)?;
        legend(&mut svg, series)?;
        Ok(svg)
    }
}

/// From right to left, beside the title and, where that is too little room, the subtitle.
fn legend(svg: &mut String, series: &[(&str, &str)]) -> Result<()> {
    let [mut end, below] = TITLES;
    let (mut x, mut y) = (WIDTH - 20.0, 31.0);
    for (name, colour) in series.iter().rev() {
        let width = 7.3 * name.len() as f64;
        if x - width < end {
            (x, y, end) = (WIDTH - 20.0, y + 20.0, below);
        }
        x -= width;
        text(svg, x, y, "", name)?;
        x -= 18.0;
        let top = y - 10.0;
        writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{top}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{colour}\"/>"
        )?;
        x -= 16.0;
    }
    Ok(())
}

pub(super) fn text(svg: &mut String, x: f64, y: f64, style: &str, content: &str) -> Result<()> {
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{content}</text>")?;
    Ok(())
}
