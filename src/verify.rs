//! The judge: pure.
