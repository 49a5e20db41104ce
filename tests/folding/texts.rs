//! Simple commands of words in every form of quoting and expansion.
//!
//! In: dice. Out: texts that set variables and call `probe`. Never: names another program.

use crate::grammar::Dice;

const NAMES: &[&str] = &["x", "y", "z", "w"];
const VALUES: &[&str] = &[
    "''",
    "abc",
    "'a b  c'",
    "a.tar.gz",
    "dir/sub/file.txt",
    "'x:y:z'",
    "' lead'",
    "'trail '",
    "rm",
    "\"it's\"",
    "$'tab\\there'",
    "é",
    "ÀB",
    "a,b,,c",
    "aXbXc",
    "aaa",
    "'-n'",
    "0",
    "17",
    "'a\\b'",
    "'q\"q'",
];
const PATTERNS: &[&str] = &[
    "a",
    "*",
    "?",
    "*/",
    "/*",
    ".*",
    "*.",
    "[a-c]",
    "[!a]",
    "X",
    "'*'",
    "\\*",
    "b*",
    "?b",
    "\"a\"",
    "[[:alpha:]]",
    ":",
    " ",
    "@(a|b)",
];
const BARE: &[&str] = &[
    "a", "rm", "-rf", "x.y", "/etc", "b:c", "=", "a=b", "+", "%", "^", ",", "@", "é", "]", "}", "#", "!",
    "0", "a#b",
];
const ANSI: &[&str] = &[
    "a",
    "\\n",
    "\\t",
    "\\x41",
    "\\x6",
    "\\101",
    "\\7",
    "\\u00e9",
    "\\u41",
    "\\U0001F600",
    "\\\\",
    "\\'",
    "\\\"",
    "\\a",
    "\\e",
    "\\cA",
    "\\z",
    "\\?",
    " ",
    "\"",
    "$x",
];
const ESCAPED: &[char] =
    &['a', ' ', '$', '\\', '"', '\'', '*', ';', '&', '|', '(', '#', '~', '{', '`', 'é', '!'];
const SINGLE: &[&str] = &["a", " ", "$x", "\\", "\"", "*", "{a,b}", ";", "`id`", "\n", "é", "~", "#", ""];
const DOUBLE: &[&str] =
    &["a", " ", "\\$", "\\\\", "\\\"", "\\`", "\\a", "'", "*", "{a,b}", ";", "\\\n", "é", "~", "#", "!", ""];
const NUMBERS: &[&str] = &["0", "1", "2", "7", "010", "0x1f", "n", "$n", "(n+1)", "2#101", "-3"];
const OPERATORS: &[&str] = &["+", "-", "*", "%", "<<", "&", "|", "^", "<", "==", "&&", "||", ",", "**"];

/// Pieces of one kind of list, put together.
fn some(dice: &mut Dice, list: &[&str], most: usize) -> String {
    (0..dice.below(most + 1)).map(|_| dice.pick(list)).collect()
}

fn parameter(dice: &mut Dice) -> String {
    let name = dice.pick(NAMES);
    let pattern = dice.pick(PATTERNS);
    let other = dice.pick(BARE);
    let number = dice.below(4);
    match dice.below(30) {
        0 => format!("${name}"),
        1 => format!("${{{name}}}"),
        2 => format!("${{{name}#{pattern}}}"),
        3 => format!("${{{name}##{pattern}}}"),
        4 => format!("${{{name}%{pattern}}}"),
        5 => format!("${{{name}%%{pattern}}}"),
        6 => format!("${{{name}/{pattern}/{number}}}"),
        7 => format!("${{{name}//{pattern}/{number}}}"),
        8 => format!("${{{name}//{pattern}}}"),
        9 => format!("${{{name}/#{pattern}/q}}"),
        10 => format!("${{{name}/%{pattern}/q}}"),
        11 => format!("${{{name}:{number}}}"),
        12 => format!("${{{name}:{number}:2}}"),
        13 => format!("${{{name}: -{number}}}"),
        14 => format!("${{{name}:(-2):1}}"),
        15 => format!("${{{name}^}}"),
        16 => format!("${{{name}^^}}"),
        17 => format!("${{{name},}}"),
        18 => format!("${{{name},,}}"),
        19 => format!("${{#{name}}}"),
        20 => format!("${{{name}:-{other}}}"),
        21 => format!("${{unset-{other}}}"),
        22 => format!("${{{name}:+{other}}}"),
        23 => format!("${{unset+{other}}}"),
        24 => format!("${{unset:={other}}}"),
        25 => "${!r}".to_owned(),
        26 => format!("${{{name}@Q}}"),
        27 => format!("${{{name}@U}}"),
        28 => format!("${{{name}@L}}"),
        _ => format!("${{{name}^^[a-m]}}"),
    }
}

/// Arrays and positional parameters.
fn list(dice: &mut Dice) -> &'static str {
    dice.pick(&[
        "$1",
        "$2",
        "${3}",
        "$#",
        "$@",
        "$*",
        "${@:2}",
        "${*:1:1}",
        "${a[0]}",
        "${a[1]}",
        "${a[-1]}",
        "${a[@]}",
        "${a[*]}",
        "${#a[@]}",
        "${#a[1]}",
        "${a[@]:1}",
        "${a[@]#p}",
        "${a[*]/q/Q}",
        "${!a[@]}",
        "${a[@]^}",
        "$a",
        "${#@}",
        "${a[n]}",
        "${a[n+1]}",
        "${m[k]}",
        "${#m[@]}",
        "${9}",
        "${@:0:0}",
    ])
}

fn arithmetic(dice: &mut Dice) -> String {
    let (a, b, c) = (dice.pick(NUMBERS), dice.pick(NUMBERS), dice.pick(NUMBERS));
    let (one, two) = (dice.pick(OPERATORS), dice.pick(OPERATORS));
    match dice.below(5) {
        0 => format!("$(({a}))"),
        1 => format!("$(({a} {one} 1 {two} {c}))"),
        2 => format!("$(( {a} > {b} ? {b} : {c} ))"),
        3 => format!("$((({a} {one} 2) {two} 1))"),
        _ => format!("$(( ~{b} {one} !{c} ))"),
    }
}

fn substitution(dice: &mut Dice) -> String {
    let (a, b) = (atom(dice, 2), atom(dice, 2));
    match dice.below(8) {
        0 => format!("$(echo {a} {b})"),
        1 => format!("$(printf %s {a})"),
        2 => "`echo a  b`".to_owned(),
        3 => format!("$(printf '%s-' {a} {b})"),
        4 => "$(printf '\\x72\\155')".to_owned(),
        5 => format!("$(echo -n {a}; echo z)"),
        6 => "$(printf '%d:%x:%03d:%c' 12 255 7 word)".to_owned(),
        _ => "$(echo -e 'a\\tb\\n\\n')".to_owned(),
    }
}

fn braces(dice: &mut Dice) -> String {
    let (a, b) = (
        dice.pick(&["a", "'b c'", "", "${x}", "x.y", "\\,", "~", "$", "$x", "y", "*"]),
        dice.pick(&["d", "\"e\"", "", "{f,g}", "-", "x", "/k", "$y", "~"]),
    );
    match dice.below(14) {
        12 => format!("{{{a}}},{b}}}"),
        13 => dice
            .pick(&["{{a},b}", "{a..{b,c}}", "{a,b}}", "{a,b{,c}", "{},a}", "{}", "{1..2}..3}", "{a..}b,c}"])
            .to_owned(),
        8 => format!("{{{b},{a}}}{}", dice.pick(&["x", "/q", "{x,y}", "$z", "\"$x\"", "~", ""])),
        9 => "{c..c}".to_owned(),
        10 => format!("${}{{{a},{b}}}", dice.pick(&["x", "{y}", "1", "@", "n"])),
        11 => format!("~{{{a},{b}}}"),
        0 => format!("{{{a},{b}}}"),
        1 => format!("{{{a},{b}}}{{1,2}}"),
        2 => "{1..4}".to_owned(),
        3 => "{a..e..2}".to_owned(),
        4 => "{03..1}".to_owned(),
        5 => format!("{{{a}}}"),
        6 => format!("{{{a},{b}"),
        _ => "{5..-5..5}".to_owned(),
    }
}

fn double(dice: &mut Dice, depth: usize) -> String {
    let mut out = String::from("\"");
    // `"${a[@]}${a[*]}"`: bash then joins neither
    let one = list(dice);
    for _ in 0..=dice.below(3) {
        match dice.below(6) {
            0 => out += &parameter(dice),
            1 => out += one,
            2 => out += &arithmetic(dice),
            3 if depth < 2 => out += &substitution(dice),
            _ => out += &some(dice, DOUBLE, 3),
        }
    }
    out + "\""
}

/// One piece of a word.
fn atom(dice: &mut Dice, depth: usize) -> String {
    match dice.below(16) {
        0 => format!("'{}'", some(dice, SINGLE, 4)),
        1 | 2 => double(dice, depth),
        3 => format!("$'{}'", some(dice, ANSI, 4)),
        4 => format!("\\{}", dice.pick(ESCAPED)),
        5 | 6 => parameter(dice),
        7 => list(dice).to_owned(),
        8 => arithmetic(dice),
        9 if depth < 2 => substitution(dice),
        10 if depth < 2 => braces(dice),
        11 => dice.pick(&["*", "?", "[ab]", "*.c", "[", "a*"]).to_owned(),
        12 => "$\"loc\"".to_owned(),
        _ => dice.pick(BARE).to_owned(),
    }
}

fn word(dice: &mut Dice) -> String {
    let mut out = String::new();
    for _ in 0..=dice.below(3) {
        out += &atom(dice, 0);
    }
    out
}

/// Variables, positional parameters, perhaps a separator; then the call.
pub(crate) fn text(dice: &mut Dice) -> String {
    let mut out = String::new();
    for name in NAMES {
        out += &format!("{name}={}; ", dice.pick(VALUES));
    }
    out += &format!("n={}; r={}; ", dice.below(4), dice.pick(NAMES));
    out += "a=(p 'q r' s); declare -A m=([k]=v [l]='u t'); ";
    out += dice.pick(&["", "set -- one 'two  three' four; ", "set -- a; "]);
    out += dice.pick(&["", "", "", "IFS=:; ", "IFS=,; ", "IFS=; ", "IFS=' :'; ", "unset IFS; ", "IFS=X; "]);
    out += "probe";
    for _ in 0..=dice.below(4) {
        out.push(' ');
        out += &word(dice);
    }
    out
}
