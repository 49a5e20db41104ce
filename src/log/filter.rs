//! Which records somebody asks for.
//!
//! In: what the options say. Out: yes or no for a record. Never: reads anything.

use super::record::Record;

/// All that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// In the record's form, see [`super::when`].
    pub since: Option<String>,
    pub until: Option<String>,
    /// Any of these verdicts.
    pub verdicts: Vec<String>,
    /// Any of these outcomes.
    pub outcomes: Vec<String>,
    /// A rule's id, or the beginning of one up to a dot.
    pub rule: Option<String>,
    pub agent: Option<String>,
    /// This folder or one below it.
    pub cwd: Option<String>,
    pub uid: Option<u64>,
    /// A piece of the text.
    pub text: Option<String>,
}

impl Filter {
    pub fn takes(&self, record: &Record<'_>) -> bool {
        let any = |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
        self.since.as_deref().is_none_or(|since| &*record.time >= since)
            && self.until.as_deref().is_none_or(|until| &*record.time < until)
            && any(&self.verdicts, &record.verdict)
            && any(&self.outcomes, &record.outcome)
            && self.uid.is_none_or(|uid| uid == record.uid)
            && self.agent.as_deref().is_none_or(|agent| agent == record.agent())
            && self.rule.as_deref().is_none_or(|rule| record.rules().any(|id| is_rule(id, rule)))
            && self.cwd.as_deref().is_none_or(|folder| is_below(&record.cwd, folder))
            && self.text.as_deref().is_none_or(|piece| record.text.contains(piece))
    }
}

fn is_rule(id: &str, asked: &str) -> bool {
    id.strip_prefix(asked)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || asked.ends_with('.'))
}

fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_condition_holds_by_itself() {
        let line = "{\"time\":\"2026-11-30T12:00:00.000000Z\",\"verdict\":\"deny\",\"outcome\":\"blocked\",\
                    \"rules\":\"filesystem.delete-system,network.shell\",\"cwd\":\"/home/u/p\",\"uid\":7,\
                    \"parent\":\"node\",\"text\":\"rm -rf /etc\"}";
        let record = Record::parse(line).unwrap();
        let with = |change: fn(&mut Filter)| {
            let mut filter = Filter::default();
            change(&mut filter);
            filter.takes(&record)
        };
        assert!(with(|_| ()));
        assert!(with(|f| f.since = Some("2026-11-30T12:00:00.000000Z".to_owned())));
        assert!(!with(|f| f.until = Some("2026-11-30T12:00:00.000000Z".to_owned())));
        assert!(with(|f| f.verdicts = vec!["warn".to_owned(), "deny".to_owned()]));
        assert!(!with(|f| f.verdicts = vec!["warn".to_owned()]));
        assert!(!with(|f| f.outcomes = vec!["observed".to_owned()]));
        assert!(with(|f| f.rule = Some("network".to_owned())));
        assert!(!with(|f| f.rule = Some("net".to_owned())));
        assert!(with(|f| f.agent = Some("node".to_owned())));
        assert!(with(|f| f.cwd = Some("/home/u/".to_owned())));
        assert!(!with(|f| f.cwd = Some("/home/us".to_owned())));
        assert!(!with(|f| f.uid = Some(8)));
        assert!(with(|f| f.text = Some("-rf".to_owned())));
    }
}
