//! Handing a text on: what each channel makes of it, what it can carry, and the way back.
//!
//! In: a text and a way of channels. Out: a rendering that was read again as the same text, or a refusal.
//! Never: starts anything.

pub mod capsule;
pub mod domain;
pub mod formats;
pub mod lines;
pub mod local;
pub mod name;
pub mod path;
pub mod remote;
pub mod rendering;
pub mod stage;
pub mod typed;
pub mod windows;
pub mod words;
