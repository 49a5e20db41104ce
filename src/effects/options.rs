//! Builtins that set the shell's options and parameters: set, shopt, shift.
//!
//! In: a call. Out: changed state. Never: takes a positional parameter for an option.

use std::rc::Rc;

use crate::act::{TagSet, tag};
use crate::canonical::value::{Data, Field};
use crate::effects::call::Call;
use crate::effects::walk::{Outcome, Walk};

/// The letter of an option's long name, for those that the walk heeds.
fn letter_of(name: &str) -> Option<char> {
    match name {
        "nounset" => Some('u'),
        "errexit" => Some('e'),
        "noglob" => Some('f'),
        "noexec" => Some('n'),
        _ => None,
    }
}

impl Walk<'_, '_> {
    /// `set`: options, positional parameters.
    pub(super) fn set_options(&mut self, call: &Call<'_>) -> Outcome {
        if call.arguments().is_empty() {
            return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_ENVIRONMENT)));
        }
        let mut rest = call.arguments().iter();
        let mut positional = None;
        while let Some(field) = rest.next() {
            let text = field.text.as_str();
            if text == "--" || text == "-" {
                positional = Some(Vec::new());
                break;
            }
            let (on, letters) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
                (Some(letters), _) => (true, letters),
                (_, Some(letters)) => (false, letters),
                (None, None) => {
                    positional = Some(vec![field.value()]);
                    break;
                }
            };
            for letter in letters.chars() {
                let letter = match letter {
                    'o' => {
                        let name = rest.next().map_or("", |f| f.text.as_str());
                        if name == "history" && !on {
                            self.hides("history", "set", call);
                        }
                        letter_of(name)
                    }
                    other => Some(other),
                };
                let Some(letter) = letter else { continue };
                self.state.options.retain(|c| c != letter);
                if on {
                    self.state.options.push(letter);
                }
            }
        }
        if let Some(mut values) = positional {
            values.extend(rest.map(Field::value));
            self.state.positional = Rc::new(values);
        }
        Outcome::success()
    }

    /// `shopt`
    pub(super) fn shopt(&mut self, call: &Call<'_>) -> Outcome {
        let on = call.arguments().iter().any(|f| f.text == "-s");
        let names = call.arguments().iter().filter(|f| !f.text.starts_with('-'));
        let list = Rc::make_mut(&mut self.state.switches);
        for field in names {
            list.retain(|n| *n != field.text);
            if on {
                list.push(field.text.clone());
            }
        }
        Outcome::success()
    }

    /// `shift [N]`
    pub(super) fn shift(&mut self, call: &Call<'_>) -> Outcome {
        let n = call.arguments().first().and_then(|f| f.text.parse::<usize>().ok()).unwrap_or(1);
        let rest = self.state.positional.iter().skip(n).cloned().collect();
        self.state.positional = Rc::new(rest);
        Outcome::silent()
    }
}
