//! Keeps compiled policy for the life of the process.
//!
//! In: owned values, once per layer. Out: the same values with static lifetime, as the tables ask.
//! Never: called while judging, but at a layer's first use. `build.rs` includes this file too.

/// Keeps a string.
pub fn text(text: impl Into<String>) -> &'static str {
    let text = text.into();
    if text.is_empty() { "" } else { Box::leak(text.into_boxed_str()) }
}

/// Keeps a list.
pub fn list<T>(items: Vec<T>) -> &'static [T] {
    if items.is_empty() { &[] } else { Box::leak(items.into_boxed_slice()) }
}

/// Keeps one value.
pub fn one<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}
