//! The policy: shapes of the files, loading, layers, compiled tables.

pub mod compile;
pub mod embedded;
pub mod fields;
pub mod keep;
pub mod settings;
pub mod shapes;
pub mod source;
pub mod tables;
pub mod temper;
pub mod words;
