//! The whole walk on one screen.
