//! Did what was meant arrive: intents, comparison, witness, location, rendering.
//!
//! In: the received text, what is known of the intent. Out: same, changed and where, or unknown.
//! Never: runs what was received in the place of what was meant.

pub mod arrival;
pub mod bench;
pub mod blame;
pub mod calls;
pub mod change;
pub mod channel;
pub mod compare;
pub mod complaint;
pub mod course;
pub mod decode;
pub mod encode;
pub mod hop;
pub mod intent;
pub mod likeness;
pub mod lines;
pub mod locate;
pub mod mechanism;
pub mod nested;
pub mod normal;
pub mod payload;
pub mod print;
pub mod process;
mod quotes;
pub mod selftest;
pub mod step;
pub mod store;
pub mod witness;
