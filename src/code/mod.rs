//! (room for the code floor)
