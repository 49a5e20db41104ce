//! stand-in
use super::index::Index;
use crate::act::{Class, ClassSet};
pub struct Host { pub name: String, pub classes: ClassSet }
pub fn look(text: &str, _index: &Index) -> Host { Host { name: text.to_owned(), classes: ClassSet::of(if text.contains("localhost") || text.contains("127.0.0.1") { Class::Loopback } else { Class::Internet }) } }
