//! `agent-shctl report --html PAGE`.
//!
//! In: options, records. Out: one self-contained page. Never: leaves half a page behind.

use std::io::{IsTerminal as _, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::ArgMatches;

use crate::cli::log;
use crate::log::page::Page;
use crate::text::tame;

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let path = options.get_one::<String>("html").map_or("-", String::as_str);
    let mut page = Page::default();
    let (mut count, shows) = (0_u64, std::io::stderr().is_terminal());
    log::each(options, &mut |record| {
        match record {
            Some(record) => page.add(record),
            None => page.add_foreign(),
        }
        count = count.saturating_add(1);
        if shows && count.is_multiple_of(20_000) {
            drop(write!(std::io::stderr(), "\r{count} records"));
        }
    })?;
    if shows && count >= 20_000 {
        drop(writeln!(std::io::stderr(), "\r{count} records"));
    }
    let html = page.html();
    if path == "-" {
        out.write_all(html.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let unwritten = || format!("cannot write {}", tame(path));
    // beside it first: whoever looks at the page never sees half of one
    let part = format!("{path}.part");
    std::fs::write(&part, &html).with_context(unwritten)?;
    std::fs::rename(&part, path).with_context(unwritten)?;
    writeln!(out, "{} ({} KiB)", tame(&Path::new(path).display().to_string()), html.len().div_ceil(1024))?;
    Ok(ExitCode::SUCCESS)
}
