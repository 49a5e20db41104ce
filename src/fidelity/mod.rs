//! Did what was meant arrive: intents, comparison, witness, location, rendering.
//!
//! In: the received text, what is known of the intent. Out: same, changed and where, or unknown.
//! Never: runs what was received in the place of what was meant.

pub mod channel;
pub mod witness;
