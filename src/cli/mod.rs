//! (room for the cli floor)
