//! agent-sh: a shell for LLM agents that judges a command before it runs.
//!
//! One sentence to hold every choice against: a command travels down the house once, and only a command
//! that has passed every floor can reach the door marked exec.
//!
//! # The walk
//!
//! [`pipeline`] is the whole walk on one screen. The raw vectors of `main` become an
//! [`Invocation`](invocation::Invocation): which real shell, which form of its command line, which text. The
//! text, with the directory, environment and user in a [`Context`](invocation::context::Context), goes to
//! [`verify`], which is pure: text, context, policy and [`World`](world::World) to a
//! [`Decision`](decision::Decision).
//!
//! 1. [`syntax`] reads the text as the shell would into our own tree, after a scan that bounds size and
//!    depth. A second parser is asked where it can be; where they see different commands, that is an unknown.
//! 2. [`effects`] walks the tree as the shell would, without running anything: [`canonical`] expands words and
//!    follows variables, [`place`] resolves paths on the real file system and says what they are, [`code`]
//!    reads other languages, the [`policy`]'s descriptions say what programs do with their arguments. Out
//!    comes a list of effects: a [`Kind`](act::Kind), a resolved target with its [`Class`](act::Class)es, tags
//!    (among them where data come from), the program, the piece of text; and what stayed unknown.
//! 3. [`evidence`] looks at the effects from four sides: structure, semantics, paths, patterns. [`score`] sums
//!    them in integers, and the worst of sum, rules and unknowns is the [`verdict`].
//!
//! Only [`decision`] makes a [`Warrant`](decision::Warrant). [`audit`] consumes it and gives
//! [`Logged`](audit::Logged); [`confine`] consumes that and gives [`Confined`](confine::Confined); [`exec`]
//! takes nothing else. Their fields are private, so the compiler keeps the order.
//!
//! `agent-shctl` ([`cli`]) asks the same [`verify`] and runs nothing, but for `deliver`: a text that another program
//! hands on is judged and recorded first, and only then started ([`exec::start`]).
//!
//! # The floors
//!
//! The modules below stand in the order in which data travels, from the door down to the cellar. A module
//! imports only from those further down; `tests/floors.rs` proves it. [`policy`] is compiled twice: `build.rs`
//! includes part of it and turns `policy/**/*.toml` into static tables that cost nothing at start; at run time
//! it reads the other layers on top of them.
//!
//! # The promises
//!
//! Cited in comments as `INVARIANT(I4)`. `.github/SECURITY.md` says where each is tested, and what is not
//! promised.
//!
//! - I1 What was judged is what is executed: same bytes, environment, directory, descriptors.
//! - I2 Only [`decision`] makes a warrant, and only from ALLOW; in observe mode it says that it rests on that.
//! - I3 Nothing runs before its record is written, nor before it is confined, as far as the policy demands.
//! - I4 DENY is final. Resolution sees WARN alone.
//! - I5 An error, a limit reached or a thing unseen never lowers a verdict.
//! - I6 A policy layer that the agent could write only tightens; only root's relaxes.
//! - I7 The order of rules, files and findings never matters.
//! - I8 More evidence never means a milder verdict; points are never negative.
//! - I9 Repair runs only what was meant, and both texts are in the record.
//! - I10 Untrusted text reaches no terminal, log or prompt unescaped.
//!
//! # Words that must not be mixed
//!
//! A *verdict* is one of ALLOW < WARN < DENY, and combining is `max`. A *decision* is a verdict with its
//! reasons. A *warrant* is leave to run. An *effect* is what a command would do. A *rule* contributes weight or
//! demands a verdict. An *override* is root's written change of a rule.

#![forbid(unsafe_code)]

pub mod cli;
pub mod setup;
pub mod hook;
pub mod pipeline;
pub mod exec;
pub mod confine;
pub mod log;
pub mod audit;
pub mod resolution;
pub mod fidelity;
pub mod verify;
pub mod evidence;
pub mod decision;
pub mod effects;
pub mod canonical;
pub mod place;
pub mod code;
pub mod envelope;
pub mod syntax;
pub mod policy;
pub mod invocation;
pub mod world;
pub mod act;
pub mod score;
pub mod verdict;
pub mod digest;
pub mod folder;
pub mod text;
pub mod threads;
