//! Who is asked about what is not decided: persons and models.
//!
//! In: nothing. Out: the `approval` and `adjudicator` sections of the temper.
//! Never: holds floating point; knows files. `build.rs` includes this file too.

choice! {
    /// Whose approvals count.
    Store {
        /// the user's own and root's
        User = "user",
        /// those that belong to root alone
        Root = "root",
    }
}

choice! {
    /// What a person may let run.
    Covers {
        /// denied commands too, but for final rules and what can't be read
        Denied = "denied",
        Undecided = "undecided",
    }
}

choice! {
    /// Whether models are asked.
    Adjudication { Ask = "ask", Never = "never" }
}

choice! {
    /// How a model is made to answer in form.
    Format {
        /// by a schema, and by words where the server knows none
        Auto = "auto",
        /// by words
        Plain = "plain",
        /// by a schema
        Schema = "schema",
    }
}

/// A person's leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approval {
    pub store: Store,
    pub covers: Covers,
    /// How long agent-sh waits for a person at a terminal, in milliseconds.
    pub wait: u32,
    /// How long a question and an unused approval last, in milliseconds.
    pub lifetime: u32,
}

/// Models that are asked; the n-th model is asked at the n-th endpoint with the n-th key, the last of
/// which stand for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjudicator {
    pub adjudication: Adjudication,
    /// Absolute paths; the first that exists.
    pub programs: &'static [&'static str],
    /// URLs up to and without `/chat/completions`.
    pub endpoints: &'static [&'static str],
    pub models: &'static [&'static str],
    /// Files that hold a key; empty: none is sent.
    pub key_files: &'static [&'static str],
    /// Certificates to trust instead of the system's; empty: the system's.
    pub ca_file: &'static str,
    pub format: Format,
    /// For all answers together, in milliseconds.
    pub deadline: u32,
    /// How long an answer holds, in milliseconds; 0: it is not kept.
    pub cache: u32,
    /// How many models must say ALLOW.
    pub quorum: u32,
}

/// One model and where it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judge {
    pub endpoint: &'static str,
    pub model: &'static str,
    /// Empty: none.
    pub key_file: &'static str,
}

impl Adjudicator {
    /// The models that must all agree; none: nobody is asked.
    pub fn judges(&self) -> Vec<Judge> {
        if self.adjudication == Adjudication::Never || self.endpoints.is_empty() {
            return Vec::new();
        }
        let nth =
            |list: &'static [&'static str], n: usize| list.get(n).or(list.last()).copied().unwrap_or("");
        let wanted = usize::try_from(self.quorum).unwrap_or(usize::MAX);
        let models = self.models.iter().enumerate().take(wanted);
        models
            .map(|(n, model)| Judge {
                endpoint: nth(self.endpoints, n),
                model,
                key_file: nth(self.key_files, n),
            })
            .collect()
    }

    /// What does not fit together.
    pub fn problem(&self) -> Option<&'static str> {
        let mut models = self.models.to_vec();
        models.sort_unstable();
        models.dedup();
        if self.quorum == 0 {
            return Some("`adjudicator.quorum` is at least 1");
        }
        if models.len() < self.models.len() {
            return Some("a model is named twice; a second opinion is another model's");
        }
        let wanted = usize::try_from(self.quorum).unwrap_or(usize::MAX);
        match (self.endpoints.is_empty(), models.len() < wanted) {
            (false, true) => {
                Some("`adjudicator.models` names fewer models than `adjudicator.quorum` asks for")
            }
            (true, _) | (false, false) => None,
        }
    }
}

/// Reads a span of time, as in `250ms`, `30s`, `5m`, `1h` and `7d`, in milliseconds.
pub fn span(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<u32>().ok()?.checked_mul(factor)
}

/// Writes a span of time in the largest unit that fits.
pub fn spelled(span: u32) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let fitting = units.into_iter().find(|(factor, _)| span >= *factor && span.is_multiple_of(*factor));
    fitting.map_or_else(|| format!("{span}ms"), |(factor, unit)| format!("{}{unit}", span / factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_written() {
        for (text, value) in [("0ms", 0), ("250ms", 250), ("30s", 30_000), ("5m", 300_000), ("1h", 3_600_000)]
        {
            assert_eq!((span(text), spelled(value).as_str()), (Some(value), text));
        }
        for text in ["", "s", "5", "-1s", "1.5s", "1 s", "9999d", "5min", "\u{665}s"] {
            assert_eq!(span(text), None, "{text}");
        }
    }

    #[test]
    fn judges_are_as_many_as_the_quorum() {
        let asked = Adjudicator {
            adjudication: Adjudication::Ask,
            programs: &[],
            endpoints: &["http://a/v1"],
            models: &["m", "n", "o"],
            key_files: &["/k", "/l"],
            ca_file: "",
            format: Format::Auto,
            deadline: 5_000,
            cache: 0,
            quorum: 2,
        };
        let judge = |model, key_file| Judge { endpoint: "http://a/v1", model, key_file };
        assert_eq!(asked.judges(), [judge("m", "/k"), judge("n", "/l")]);
        assert_eq!(Adjudicator { adjudication: Adjudication::Never, ..asked }.judges(), []);
        assert_eq!(asked.problem(), None);
        assert!(Adjudicator { quorum: 4, ..asked }.problem().is_some());
        assert!(Adjudicator { models: &["m", "m"], ..asked }.problem().is_some());
    }
}
