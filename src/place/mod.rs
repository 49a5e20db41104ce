//! (room for the place floor)
