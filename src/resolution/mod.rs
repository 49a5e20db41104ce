//! The undecided: a WARN is settled by an adjudicator, a person or a standing exception.
//!
//! In: a Decision of WARN. Out: ALLOW or DENY, and why. Never: sees an ALLOW or a DENY; allows on doubt.
