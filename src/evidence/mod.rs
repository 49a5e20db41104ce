//! (room for the evidence floor)
