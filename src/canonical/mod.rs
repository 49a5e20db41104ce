//! (room for the canonical floor)
