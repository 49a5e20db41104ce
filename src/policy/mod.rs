//! The policy: shapes of the files, loading, layers, compiled tables.

pub mod compile;
pub mod keep;
pub mod shapes;
pub mod source;
pub mod tables;
pub mod words;
