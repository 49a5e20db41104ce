//! The policy: shapes of the files, loading, layers, compiled tables.

pub mod show;
pub mod load;
pub mod layers;
pub mod rights;
pub mod exception;
pub mod rulebook;
pub mod day;
pub mod merged;
pub mod embedded;
pub mod compile;
pub mod settings;
pub mod values;
pub mod shapes;
pub mod source;
pub mod fields;
pub mod words;
pub mod temper;
pub mod catalogue;
pub mod sieve;
pub mod tables;
pub mod sought;
pub mod keep;

pub use load::{Whereabouts, load};
pub use merged::Policy;
pub use source::PolicyError;

#[cfg(test)]
mod techniques;
#[cfg(test)]
mod tests;
