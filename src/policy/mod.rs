//! The policy: shapes of the files, loading, layers, compiled tables.

pub mod tables;
