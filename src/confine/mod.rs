//! (room for the confine floor)
