//! Which framework wrapped the text, and which part of it is the model's.
//!
//! In: the invocation's text and arguments. Out: the envelope of an exactly known shape, or none.
//! Never: guesses; a text that is more or less than the known shape is judged as a whole.
