//! (room for the envelope floor)
