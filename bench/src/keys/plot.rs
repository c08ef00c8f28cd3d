//! The plot of the report: for each case and codec a bar, as long as the codec's time is a multiple
//! of memcpy's.

use anyhow::Result;
use stonecrop_bench::{CASES, CODECS, MEMCPY, Operation};

use crate::keys::samples::Samples;
use crate::plot::{Bars, Group};

/// In the order of [`CODECS`], and different from each other for the colour-blind too.
const COLOURS: [&str; 5] = ["#00795a", "#8ccfb8", "#cc79a7", "#e69f00", "#56a5dc"];

pub(crate) fn chart(samples: &Samples) -> Result<Bars> {
    let mut groups = Vec::new();
    for case in CASES {
        let mut ratios = Vec::new();
        for operation in Operation::ALL {
            let memcpy = samples.get(operation, case, MEMCPY)?;
            let ratio = |codec| samples.find(operation, case, codec).map(|ns| ns / memcpy);
            ratios.push(CODECS.map(ratio).to_vec());
        }
        groups.push(Group { label: case.title.to_owned(), ratios });
    }
    Ok(Bars {
        title: "Encoding and decoding keys",
        subtitle: "Time as a multiple of copying the same bytes; less is better; the scale is \
                   logarithmic",
        unit: MEMCPY,
        panels: Operation::ALL.map(Operation::name).to_vec(),
        series: CODECS.into_iter().zip(COLOURS).collect(),
        labels: 190.0,
        groups,
    })
}
