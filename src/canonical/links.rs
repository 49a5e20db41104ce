//! Links that the script itself has made, by place.
//!
//! In: places in normal form and what the links there lead to. Out: where a path leads through them.
//! Never: follows more of them than the kernel does; forgets one without saying so.

use crate::canonical::table::Table;
use crate::canonical::value::HOLE;

/// Links that are remembered.
const MOST: usize = 512;

/// Links that the kernel follows in one path (`path_resolution(7)`).
const HOPS: usize = 40;

/// Links by place; copies are cheap.
#[derive(Clone, Debug, Default)]
pub struct Links {
    by_place: Table<String>,
    count: usize,
}

/// Whether there was room for one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Left,
    None,
}

/// What a link at the very end of a path is to the one who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    Followed,
    Kept,
}

impl Links {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Remembers a link.
    pub fn note(&mut self, place: &str, goal: String) -> Room {
        let new = !self.by_place.contains_key(place);
        if new && self.count >= MOST {
            return Room::None;
        }
        self.count += usize::from(new);
        self.by_place.insert(place.to_owned(), goal);
        Room::Left
    }

    /// Remembers what is known there and not here; a link that leads elsewhere there leads nowhere known.
    pub fn join(&mut self, other: &Self) {
        for place in self.by_place.parted(&other.by_place) {
            let Some(goal) = other.by_place.get(&place) else { continue };
            match self.by_place.get(&place) {
                Some(mine) if mine == goal => {}
                Some(_) => self.by_place.insert(place, HOLE.to_string()),
                None => {
                    self.count += 1;
                    self.by_place.insert(place, goal.clone());
                }
            }
        }
    }

    /// Where a path leads through these links; `None` if none of them is on its way.
    pub fn lead(&self, path: &str, last: Last) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut now: Option<String> = None;
        for _ in 0..HOPS {
            match self.step(now.as_deref().unwrap_or(path), last) {
                Some(next) => now = Some(next),
                None => break,
            }
        }
        now
    }

    /// The first link on the way, taken.
    fn step(&self, path: &str, last: Last) -> Option<String> {
        let folders = path.match_indices('/').skip(1).map(|(at, _)| at);
        let ends = folders.chain((last == Last::Followed).then_some(path.len()));
        ends.filter_map(|end| path.split_at_checked(end)).find_map(|(place, rest)| {
            let goal = self.by_place.get(place)?;
            Some(format!("{}{rest}", goal.trim_end_matches('/')))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_led_through_links_in_the_order_of_its_folders() {
        let mut links = Links::default();
        for (place, goal) in [("/a", "/etc"), ("/b", "/a/x"), ("/c", "/c"), ("/d/e", "/")] {
            assert_eq!(links.note(place, goal.to_owned()), Room::Left);
        }
        for (path, last, want) in [
            ("/a", Last::Followed, Some("/etc")),
            ("/a", Last::Kept, None),
            ("/a/f", Last::Kept, Some("/etc/f")),
            ("/b/f", Last::Followed, Some("/etc/x/f")),
            ("/ab", Last::Followed, None),
            ("/c", Last::Followed, Some("/c")),
            ("/d/e/f", Last::Followed, Some("/f")),
            ("/", Last::Followed, None),
        ] {
            assert_eq!(links.lead(path, last).as_deref(), want, "{path}");
        }
    }

    #[test]
    fn what_two_branches_say_otherwise_is_not_known() {
        let (mut one, mut other) = (Links::default(), Links::default());
        one.note("/a", "/etc".to_owned());
        other.note("/a", "/tmp".to_owned());
        other.note("/b", "/var".to_owned());
        one.join(&other);
        assert_eq!(one.lead("/a/f", Last::Followed), Some(format!("{HOLE}/f")));
        assert_eq!(one.lead("/b", Last::Followed).as_deref(), Some("/var"));
    }

    #[test]
    fn there_is_an_end_to_what_is_remembered() {
        let mut links = Links::default();
        let rooms: Vec<Room> = (0..=MOST).map(|i| links.note(&format!("/{i}"), "/x".to_owned())).collect();
        assert_eq!(rooms.iter().position(|room| *room == Room::None), Some(MOST));
    }
}
