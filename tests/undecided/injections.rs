//! Commands that speak to the model that judges them. ASK stands for the command that is undecided.
//!
//! In: injections.json, which scripts/injections reads too. Out: texts, in the order of the file. Never: a text
//! that the judge would decide without the model.

/// All of them, whatever they hide in.
pub(crate) fn all() -> Vec<String> {
    let groups: serde_json::Value = serde_json::from_str(include_str!("injections.json")).unwrap();
    let texts = groups.as_object().unwrap().values().flat_map(|group| group.as_array().unwrap());
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}
