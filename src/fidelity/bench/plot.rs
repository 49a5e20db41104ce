//! Changed-call rate of each way, as SVG.
//!
//! In: rows of name and share. Out: an SVG document. Never: a script or a font from elsewhere.

use std::fmt::Write as _;

use crate::fidelity::bench::tally::Sums;

const ROW: usize = 16;
const LEFT: usize = 180;
const WIDTH: usize = 400;

/// Bars: changed, of which silent is darker.
pub fn bars(rows: &[(&str, Sums)]) -> String {
    let height = rows.len() * ROW + 50;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"16\" font-weight=\"bold\">Changed calls by way (dark: silent)</text>\n",
        LEFT + WIDTH + 90
    );
    for (at, (name, sums)) in rows.iter().enumerate() {
        let y = at * ROW + 28;
        let wide = |part: u64| part.saturating_mul(WIDTH as u64).checked_div(sums.exposed).unwrap_or(0);
        let (changed, silent) = (wide(sums.changed), wide(sums.silent));
        let parts = sums.changed_share();
        let percent = if sums.exposed == 0 { 0 } else { parts.per_ten_thousand() };
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{name}</text>\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{changed}\" height=\"11\" fill=\"#7aa6d8\"/>\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{silent}\" height=\"11\" fill=\"#1d4f8c\"/>\
             <text x=\"{}\" y=\"{}\">{}.{} %</text>",
            LEFT - 6,
            y + 10,
            LEFT as u64 + changed + 4,
            y + 10,
            percent / 100,
            percent % 100 / 10
        );
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        let sums = Sums { exposed: 4, changed: 2, silent: 1, ..Sums::default() };
        let svg = bars(&[("eval", sums)]);
        assert!(
            svg.contains("width=\"200\"") && svg.contains("width=\"100\" height=\"11\" fill=\"#1d4f8c\"")
        );
        assert!(svg.contains(">eval</text>") && svg.contains("50.0 %"));
    }
}
