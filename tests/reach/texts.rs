//! Scripts that compute, loop, branch and leave early, with numbered probes everywhere.
//!
//! In: dice. Out: texts. Never: runs for ever: each loop counts by a variable that nothing else sets.

use crate::grammar::Dice;

/// A script in the making: how many probes and names it has.
#[derive(Default)]
struct Draft {
    probes: usize,
    names: usize,
    functions: usize,
}

const VARIABLES: &[&str] = &["n", "m"];
const SHORT: &[&str] = &["0", "1", "2", "3", "5"];

impl Draft {
    fn probe(&mut self) -> String {
        self.probes += 1;
        format!("probe {}", self.probes)
    }

    fn block(&mut self, dice: &mut Dice, depth: usize) -> String {
        let count = 1 + dice.below(3);
        let mut out: Vec<String> = (0..count).map(|_| self.statement(dice, depth)).collect();
        if dice.below(2) == 0 {
            out.push(self.probe());
        }
        out.join(dice.pick(&["; ", "\n"]))
    }

    fn statement(&mut self, dice: &mut Dice, depth: usize) -> String {
        match dice.below(if depth < 3 { 12 } else { 5 }) {
            0 => self.probe(),
            1 | 2 => assignment(dice),
            3 => format!("{} {} {}", condition(dice), dice.pick(&["&&", "||"]), self.probe()),
            4 => format!("{}{}", dice.pick(&["", "[ -e /etc/passwd ] && ", "[ -e /none ] && "]), leave(dice)),
            5 => {
                let (test, yes, no) =
                    (condition(dice), self.block(dice, depth + 1), self.block(dice, depth + 1));
                format!("if {test}; then {yes}; else {no}; fi")
            }
            6 => {
                let (a, b) = (self.block(dice, depth + 1), self.block(dice, depth + 1));
                format!(
                    "case ${} in {}|{}) {a};; *) {b};; esac",
                    dice.pick(VARIABLES),
                    dice.pick(SHORT),
                    dice.pick(SHORT)
                )
            }
            7 | 8 => self.repeat(dice, depth),
            9 => self.function(dice, depth),
            10 => {
                let body = self.block(dice, depth + 1);
                let (open, close) = if dice.below(2) == 0 { ("(", ")") } else { ("{", "; }") };
                format!("{open} {body}{close}{}", dice.pick(&["", "", " 2>/nonexistent/x", " >/dev/null"]))
            }
            _ => format!("[ -e /etc/passwd ] && {}", assignment(dice)),
        }
    }

    fn repeat(&mut self, dice: &mut Dice, depth: usize) -> String {
        self.names += 1;
        let w = format!("w{}", self.names);
        let body = self.block(dice, depth + 1);
        match dice.below(5) {
            0 => format!("for {w} in 1 2 3; do {body}; done"),
            1 => format!("for (({w}=0; {w}<{}; {w}++)); do {body}; done", 2 + dice.below(5)),
            2 => format!("{w}=0; while [ ${w} -lt {} ]; do {w}=$(({w}+1)); {body}; done", 2 + dice.below(5)),
            3 => format!("{w}=0; until (({w} > {})); do (({w}++)); {body}; done", 1 + dice.below(5)),
            _ => format!("while read {w}; do {body}; done < /etc/passwd"),
        }
    }

    fn function(&mut self, dice: &mut Dice, depth: usize) -> String {
        self.functions += 1;
        let f = format!("f{}", self.functions);
        let body = self.block(dice, depth + 1);
        let local = dice.pick(&["", "", "local n=7; ", "local m; "]);
        if dice.below(3) == 0 {
            let probe = self.probe();
            return format!(
                "{f}() {{ {local}if [ $1 -ge {} ]; then {probe}; return; fi; {body}; {f} $(($1+1)); }}; {f} 0",
                1 + dice.below(5)
            );
        }
        let prefix = dice.pick(&["", "", "[ -e /none ] && ", "n=9 "]);
        let call = if prefix == "n=9 " { format!("n=9 {f} 1") } else { format!("{prefix}{f} 1 2") };
        format!("{f}() {{ {local}{body}; }}; {call}")
    }
}

fn assignment(dice: &mut Dice) -> String {
    let (x, y, k) = (dice.pick(VARIABLES), dice.pick(VARIABLES), dice.pick(SHORT));
    match dice.below(18) {
        0 => format!("{x}={k}"),
        1 => format!("{x}=$(({y}+1))"),
        2 => format!("(({x}++))"),
        3 => format!("((++{x}))"),
        4 => format!("(({x}+={k}))"),
        5 => format!("let {x}={y}*2"),
        6 => format!("{x}=${y}"),
        7 => "s=x$s".to_owned(),
        8 => "a+=(q)".to_owned(),
        9 => "set -- $s p q".to_owned(),
        10 => "shift".to_owned(),
        11 => format!("{x}=${{{y}:-{k}}}"),
        12 => format!("(({x} = {y} > 1 ? {k} : 0))"),
        13 => format!("(({y} > 1 && ({x} = {k})))"),
        14 => format!("read {x} <<< {k}"),
        15 => format!("printf -v {x} %s {k}"),
        16 => format!("{x}+={k}"),
        _ => format!("(({x} %= 3))"),
    }
}

fn condition(dice: &mut Dice) -> String {
    let (x, k) = (dice.pick(VARIABLES), dice.pick(SHORT));
    match dice.below(14) {
        0 => format!("[ \"${x}\" = {k} ]"),
        1 => format!("[[ ${x} == {k} ]]"),
        2 => format!("(({x} > {k}))"),
        3 => format!("[ \"${x}\" -gt {k} ]"),
        4 => format!("[[ ${x} -le {k} ]]"),
        5 => format!("[ $# = {k} ]"),
        6 => format!("[ ${{#a[@]}} = {k} ]"),
        7 => "[[ $s = xxx* ]]".to_owned(),
        8 => format!("[ \"${{a[{k}]}}\" = q ]"),
        9 => "[ \"$1\" = p ]".to_owned(),
        10 => "[ -e /etc/passwd ]".to_owned(),
        11 => format!("! [ \"${x}\" != {k} ]"),
        12 => "true 2>/nonexistent/x".to_owned(),
        _ => format!("[ \"${x}$s\" = {k}x ]"),
    }
}

fn leave(dice: &mut Dice) -> &'static str {
    dice.pick(&[
        "break",
        "continue",
        "break 2",
        "continue 2",
        "return",
        "return 0",
        "exit 1",
        "exit 2>/nonexistent/x",
        "break 2>/nonexistent/x",
        "exit --help >/dev/null",
        "eval break",
        "eval 'return 1'",
    ])
}

/// A script of a few statements.
pub(crate) fn text(dice: &mut Dice) -> String {
    let mut draft = Draft::default();
    let mut out = String::from("n=0; m=1; s=; a=();");
    for _ in 0..3 {
        out += "\n";
        out += &draft.block(dice, 0);
    }
    out
}
