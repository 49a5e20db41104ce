//! Shell patterns (stand-in until the place floor lands).
pub fn matches(pattern: &str, text: &str) -> bool {
    pattern == text
}
