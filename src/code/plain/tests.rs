use super::*;

fn acts(lang: Lang, text: &str) -> Vec<String> {
    look(lang, text)
        .acts
        .iter()
        .map(|a| {
            format!("{:?} {}", a.what, a.args.iter().filter_map(Value::known).collect::<Vec<_>>().join(" "))
        })
        .collect()
}

#[test]
fn editors_command_lines_are_read() {
    assert_eq!(acts(Lang::Vim, ":!/bin/sh"), ["Shell /bin/sh"]);
    assert_eq!(acts(Lang::Vim, ":set shell=/bin/sh|:shell"), ["Interactive "]);
    assert_eq!(acts(Lang::Vim, "%!sort | uniq"), ["Shell sort | uniq"]);
    assert_eq!(acts(Lang::Vim, "r !id"), ["Shell id"]);
    assert_eq!(acts(Lang::Vim, "w /etc/x"), ["Write /etc/x"]);
    assert_eq!(acts(Lang::Vim, "call system('id')"), ["Shell id"]);
    assert_eq!(acts(Lang::Vim, "%s/a|b/c/g"), Vec::<String>::new());
    assert_eq!(acts(Lang::Vim, "wq"), Vec::<String>::new());
    assert_eq!(acts(Lang::Vim, "set nu | wq"), Vec::<String>::new());
}

#[test]
fn debuggers_and_databases_are_read() {
    assert_eq!(acts(Lang::Gdb, "!sh"), ["Shell sh"]);
    assert_eq!(acts(Lang::Gdb, "shell"), ["Interactive "]);
    assert_eq!(acts(Lang::Gdb, "break main\nrun"), Vec::<String>::new());
    assert_eq!(acts(Lang::Gdb, "dump value /etc/x \"a\""), ["Write /etc/x"]);
    assert_eq!(acts(Lang::Sql, ".shell id"), ["Shell id"]);
    assert_eq!(acts(Lang::Sql, "\\! id"), ["Shell id"]);
    assert_eq!(acts(Lang::Sql, "COPY t FROM PROGRAM 'id'"), ["Shell id"]);
    assert_eq!(acts(Lang::Sql, "SELECT 'a' INTO OUTFILE '/tmp/x'"), ["Write /tmp/x"]);
    assert_eq!(acts(Lang::Sql, "select * from t where a = 'b'"), Vec::<String>::new());
}

#[test]
fn calls_with_literals_are_read_in_any_language() {
    assert_eq!(acts(Lang::Other, "system(\"/bin/sh\")"), ["Shell /bin/sh"]);
    assert_eq!(
        acts(Lang::Other, "syscall.Exec(\"/bin/sh\", []string{\"/bin/sh\", \"-i\"}, []string{})"),
        ["Shell /bin/sh", "Exec /bin/sh -i"]
    );
    assert_eq!(acts(Lang::Emacs, "(term \"/bin/sh\")"), ["Shell /bin/sh"]);
    assert_eq!(acts(Lang::R, "readLines(\"/etc/shadow\")"), ["Read /etc/shadow"]);
    assert_eq!(acts(Lang::Make, "$(shell id 1>&0)"), ["Shell id 1>&0"]);
    assert_eq!(acts(Lang::Make, "all:\n\trm -rf $(OUT) $$HOME"), ["Shell rm -rf make_value $HOME"]);
    assert_eq!(acts(Lang::Tcl, "exec /bin/sh <@stdin"), ["Exec /bin/sh"]);
    assert_eq!(acts(Lang::Expect, "spawn /bin/sh;interact"), ["Exec /bin/sh"]);
    assert_eq!(acts(Lang::Jq, ".a | length"), Vec::<String>::new());
}
