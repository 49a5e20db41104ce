//! (room for the audit floor)
