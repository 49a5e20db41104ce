//! Names and what they stand for, in a state that is copied at each fork: copies share what was there before
//! they parted, and to join them costs as much as they differ.
//!
//! In: names and values. Out: [`Table`]. Never: copies what no copy has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A map by name.
#[derive(Debug)]
pub struct Table<V> {
    top: Rc<Layer<V>>,
}

/// What was said since the layer below was shared.
#[derive(Debug)]
struct Layer<V> {
    /// `None`: the name was taken away.
    own: BTreeMap<String, Option<V>>,
    below: Option<Rc<Self>>,
}

impl<V> Clone for Table<V> {
    fn clone(&self) -> Self {
        Self { top: Rc::clone(&self.top) }
    }
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { top: Rc::new(Layer { own: BTreeMap::new(), below: None }) }
    }
}

impl<V> Layer<V> {
    /// Takes in the layers below that nobody else has.
    fn settle(&mut self) {
        while let Some(below) = self.below.as_mut().and_then(Rc::get_mut) {
            let mut all = std::mem::take(&mut below.own);
            let next = below.below.take();
            all.append(&mut self.own);
            self.own = all;
            self.below = next;
        }
    }
}

impl<V: Clone> Table<V> {
    fn layers(&self) -> impl Iterator<Item = &Layer<V>> {
        std::iter::successors(Some(&*self.top), |layer| layer.below.as_deref())
    }

    pub fn get(&self, name: &str) -> Option<&V> {
        self.layers().find_map(|layer| layer.own.get(name)).and_then(Option::as_ref)
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn insert(&mut self, name: String, value: V) {
        self.own().insert(name, Some(value));
    }

    pub fn is_empty(&self) -> bool {
        self.layers().all(|layer| layer.own.is_empty())
    }

    pub fn remove(&mut self, name: &str) {
        if self.contains_key(name) {
            self.own().insert(name.to_owned(), None);
        }
    }

    /// The value of a name, to be changed here; a new one if it has none.
    pub fn change(&mut self, name: &str) -> &mut V
    where
        V: Default,
    {
        let inherited = self.get(name).cloned();
        let entry = self.own().entry(name.to_owned()).or_insert(None);
        entry.get_or_insert_with(|| inherited.unwrap_or_default())
    }

    /// All names with their values, in order.
    pub fn entries(&self) -> BTreeMap<&str, &V> {
        let names: BTreeSet<&str> =
            self.layers().flat_map(|layer| layer.own.keys()).map(String::as_str).collect();
        names.into_iter().filter_map(|name| Some((name, self.get(name)?))).collect()
    }

    /// The part that is this table's own to change.
    fn own(&mut self) -> &mut BTreeMap<String, Option<V>> {
        if Rc::get_mut(&mut self.top).is_none() {
            self.top = Rc::new(Layer::over(&self.top));
        }
        let top = Rc::make_mut(&mut self.top);
        top.settle();
        &mut top.own
    }

    /// Names that may differ between the two: what either said since they parted.
    pub fn parted(&self, other: &Self) -> BTreeSet<String> {
        let ours: BTreeSet<*const Layer<V>> = self.layers().map(std::ptr::from_ref).collect();
        let shared = other.layers().find(|layer| ours.contains(&std::ptr::from_ref(*layer)));
        let shared = shared.map(std::ptr::from_ref);
        let apart = |layer: &&Layer<V>| shared != Some(std::ptr::from_ref(*layer));
        let said = self.layers().take_while(apart).chain(other.layers().take_while(apart));
        said.flat_map(|layer| layer.own.keys().cloned()).collect()
    }
}

impl<V: Clone> Layer<V> {
    /// A layer over one that is shared. Copies what is no larger than itself, so that sizes double on the way
    /// down: layers are as few as the logarithm of the names, and a name is copied as seldom.
    fn over(shared: &Rc<Self>) -> Self {
        let (mut own, mut below) = (BTreeMap::new(), Some(shared));
        while let Some(layer) = below.filter(|layer| layer.own.len() <= own.len() + 1) {
            for (name, value) in &layer.own {
                own.entry(name.clone()).or_insert_with(|| value.clone());
            }
            below = layer.below.as_ref();
        }
        Self { own, below: below.cloned() }
    }
}

impl<V: Clone> Clone for Layer<V> {
    fn clone(&self) -> Self {
        Self { own: self.own.clone(), below: self.below.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(table: &Table<u32>) -> Vec<(&str, u32)> {
        table.entries().into_iter().map(|(name, value)| (name, *value)).collect()
    }

    #[test]
    fn copies_go_their_own_ways() {
        let mut one = Table::default();
        one.insert("a".to_owned(), 1);
        one.insert("b".to_owned(), 2);
        let mut other = one.clone();
        other.insert("b".to_owned(), 3);
        other.remove("a");
        *one.change("b") += 10;
        *one.change("c") += 1;
        assert_eq!(shown(&one), [("a", 1), ("b", 12), ("c", 1)]);
        assert_eq!(shown(&other), [("b", 3)]);
        assert_eq!(one.parted(&other).into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(one.parted(&one.clone()).is_empty());
        other.insert("a".to_owned(), 5);
        assert_eq!((other.get("a"), other.get("x")), (Some(&5), None));
    }

    #[test]
    fn what_nobody_shares_any_more_is_one_layer() {
        let mut table = Table::default();
        for n in 0..1000 {
            table.insert(format!("{n}"), n);
            drop(table.clone());
        }
        assert_eq!((table.layers().count(), shown(&table).len()), (1, 1000));
    }

    #[test]
    fn a_name_that_is_said_between_copies_costs_little() {
        let (mut table, mut told) = (Table::default(), 0);
        for n in 0..1000 {
            let before = table.clone();
            table.insert(format!("{n}"), n);
            told += table.parted(&before).len();
        }
        assert!(told < 1000 * 10 && table.layers().count() <= 10, "{told}");
        assert_eq!(shown(&table).len(), 1000);
    }

    #[test]
    fn many_kept_copies_stay_shallow() {
        let (mut table, mut kept) = (Table::default(), Vec::new());
        for n in 0..500 {
            kept.push(table.clone());
            table.insert(format!("{n}"), n);
        }
        assert!(table.layers().count() <= 10 && shown(&table).len() == 500);
        assert!(kept.iter().enumerate().all(|(n, copy)| shown(copy).len() == n));
    }
}
