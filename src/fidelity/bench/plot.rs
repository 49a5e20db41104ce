//! Changed-call rate of each way, as SVG.
//!
//! In: rows of group, name and sums. Out: an SVG document. Never: a script or a font from elsewhere.

use std::fmt::Write as _;

use crate::fidelity::bench::tally::Sums;

/// Pixels: a row, a bar in it, the head, the columns.
const ROW: usize = 17;
const BAR: usize = 11;
const HEAD: usize = 74;
const LEFT: usize = 176;
const WIDTH: usize = 400;
const RIGHT: usize = 190;

const LOUD: &str = "#8db7e3";
const SILENT: &str = "#1d4f8c";
const FAINT: &str = "#6b7280";

/// One row: its group, its name, its sums.
pub type Row<'r> = (&'r str, &'r str, Sums);

/// Bars: what was changed, of which what was changed silently is darker; the share, and how many of it came back.
pub fn bars(rows: &[Row<'_>]) -> String {
    let groups = rows.chunk_by(|a, b| a.0 == b.0).count();
    let bottom = HEAD + (rows.len() + groups + 1) * ROW + 6;
    let mut out = head(bottom);
    let mut y = HEAD;
    for group in rows.chunk_by(|a, b| a.0 == b.0) {
        let name = group.first().map_or("", |row| row.0);
        let _ = writeln!(
            out,
            "<text x=\"10\" y=\"{}\" font-weight=\"bold\">{name}</text>\
             <path d=\"M10 {}H{}\" stroke=\"#e5e7eb\"/>",
            y + 13,
            y + 16,
            LEFT + WIDTH + RIGHT - 10
        );
        y += ROW;
        for (_, name, sums) in group {
            row(&mut out, name, sums, y);
            y += ROW;
        }
    }
    let mut all = Sums::default();
    for (_, _, sums) in rows {
        all.add(sums);
    }
    row(&mut out, "all ways", &all, y + 4);
    out.push_str("</svg>\n");
    out
}

fn head(bottom: usize) -> String {
    let whole = LEFT + WIDTH + RIGHT;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{whole}\" height=\"{0}\" viewBox=\"0 0 {whole} {0}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#111827\">\n\
         <title>Calls that were changed on their way, by way</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"10\" y=\"22\" font-size=\"15\" font-weight=\"bold\">Calls that were changed on their way</text>\n\
         <rect x=\"10\" y=\"34\" width=\"{BAR}\" height=\"{BAR}\" fill=\"{SILENT}\"/><text x=\"26\" y=\"44\">silently</text>\
         <rect x=\"88\" y=\"34\" width=\"{BAR}\" height=\"{BAR}\" fill=\"{LOUD}\"/>\
         <text x=\"104\" y=\"44\">with an error or a hang</text>\n",
        bottom + 14
    );
    for step in 0..=4 {
        let x = LEFT + WIDTH * step / 4;
        let _ = writeln!(
            out,
            "<path d=\"M{x} {HEAD}V{bottom}\" stroke=\"#e5e7eb\"/><text x=\"{x}\" y=\"{}\" font-size=\"11\" \
             fill=\"{FAINT}\" text-anchor=\"middle\">{} %</text>",
            HEAD - 6,
            step * 25
        );
    }
    out
}

fn row(out: &mut String, name: &str, sums: &Sums, y: usize) {
    let wide = |part: u64| part.saturating_mul(WIDTH as u64).checked_div(sums.exposed).unwrap_or(0);
    let (changed, silent) = (wide(sums.changed), wide(sums.silent));
    // tenths of a percent, rounded
    let tenths =
        (sums.changed.saturating_mul(2000) + sums.exposed).checked_div(2 * sums.exposed).unwrap_or(0);
    let color = if sums.changed == 0 { FAINT } else { "#111827" };
    let mut said = format!("{}.{} %", tenths / 10, tenths % 10);
    if sums.changed > 0 {
        let _ = write!(said, ": {} of {}, {} recovered", sums.changed, sums.exposed, sums.recovered);
        if sums.refused > 0 {
            let _ = write!(said, ", {} refused", sums.refused);
        }
    }
    // words stand at the foot of a full bar's row as well: right of the scale they are never over a bar
    let (base, beside) = (y + 12, if changed * 2 > WIDTH as u64 { WIDTH as u64 } else { changed });
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{base}\" text-anchor=\"end\" fill=\"{color}\">{name}</text>\
         <rect x=\"{LEFT}\" y=\"{}\" width=\"{changed}\" height=\"{BAR}\" fill=\"{LOUD}\"/>\
         <rect x=\"{LEFT}\" y=\"{}\" width=\"{silent}\" height=\"{BAR}\" fill=\"{SILENT}\"/>\
         <text x=\"{}\" y=\"{base}\" font-size=\"11\" fill=\"{color}\">{said}</text>",
        LEFT - 6,
        y + 2,
        y + 2,
        LEFT as u64 + beside + 5
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        let sums = Sums { exposed: 6, changed: 3, silent: 1, recovered: 2, refused: 1, ..Sums::default() };
        let svg =
            bars(&[("wrapper", "eval", sums), ("remote", "ssh", Sums { exposed: 6, ..Sums::default() })]);
        assert!(svg.contains("width=\"200\"") && svg.contains("width=\"66\" height=\"11\" fill=\"#1d4f8c\""));
        assert!(svg.contains(">eval</text>") && svg.contains("50.0 %: 3 of 6, 2 recovered, 1 refused"));
        assert!(svg.contains(">wrapper</text>") && svg.contains(">0.0 %</text>"));
        assert!(svg.contains("25.0 %: 3 of 12"), "the sum stands below: {svg}");
    }
}
