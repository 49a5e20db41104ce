//! Reading back what was recorded: queries, chain, statistics, report.
//!
//! In: records of the file, journald or rsyslog. Out: rows, pages. Never: decides anything; lets what is
//! recorded reach a terminal or a page as anything but text (INVARIANT(I10)).

pub mod filter;
pub mod kernel;
pub mod line;
pub mod page;
pub mod record;
pub mod source;
pub mod stats;
pub mod when;
pub mod verify;
