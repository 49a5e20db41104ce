//! CARE's L0 at the level of words: values, expansion, decoding; what bash would make of a word.
//!
//! In: words of the tree and a [`state::State`]. Out: fields and data, with holes where unknown.
//! Never: runs anything; knows commands (that is `effects`).

pub mod arithmetic;
pub mod brace;
pub mod decode;
pub mod ere;
pub mod escape;
pub mod expand;
pub mod host;
mod join;
pub mod links;
pub mod operation;
pub mod parameter;
mod respell;
pub mod state;
pub mod table;
pub mod tilde;
pub mod value;
pub mod written;
