//! Reading back what was recorded: queries, chain, statistics, report.
//!
//! In: records of the file, journald or rsyslog. Out: rows, pages. Never: decides anything.
