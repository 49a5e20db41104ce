//! A machine with nothing on it, for the targets that judge.

use agent_sh::world::{Meta, World};

pub struct Nowhere;

impl World for Nowhere {
    fn meta(&self, _: &str) -> Option<Meta> {
        None
    }
    fn link(&self, _: &str) -> Option<String> {
        None
    }
    fn content(&self, _: &str, _: usize) -> Option<Vec<u8>> {
        None
    }
    fn entries(&self, _: &str, _: usize) -> Option<Vec<String>> {
        None
    }
    fn home_of(&self, _: &str) -> Option<String> {
        None
    }
    fn uid(&self) -> u32 {
        1000
    }
}
