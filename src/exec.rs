//! Becomes the real shell.
