//! What is known of the call whose command is undecided.
//!
//! In: nothing. Out: [`Call`]. Never: reads anything itself.

/// The call whose command is undecided. Texts are judged text.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What its author meant to run.
    pub text: &'a [u8],
    /// The form of the wrapper around it.
    pub form: &'a str,
    /// The argument vector without the text.
    pub words: &'a [&'a [u8]],
    pub cwd: &'a str,
    /// The effective user.
    pub uid: u32,
    /// That of the user table.
    pub home: &'a str,
    /// The program that asks.
    pub caller: &'a str,
}
