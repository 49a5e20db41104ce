//! Programs that agents run all day work inside.

use serde_json::json;

use super::stage::{Stage, User, is_here};

const USERS: [User; 2] = [User::Root, User::Nobody];

fn works(user: User, program: &str, script: &str, expected: &str) {
    if !is_here(program) {
        return;
    }
    let Some(stage) = Stage::set(user) else { return };
    let seen = stage.run(&format!("set -e; {script}"));
    assert_eq!((seen.status, seen.out.as_str()), (Some(0), expected), "{user:?}: {seen:?}");
    assert!(seen.state.starts_with("landlock"), "{}", seen.state);
}

#[test]
fn git_works() {
    for user in USERS {
        let script = "git init -q . && git add file && git commit -qm one && git mv file g && git commit -qam two \
                      && git gc -q && git clone -q . ../project/copy && git log --oneline | wc -l";
        works(user, "git", script, "2\n");
    }
}

#[test]
fn a_git_work_tree_works_though_its_repository_is_elsewhere() {
    if !is_here("git") {
        return;
    }
    for user in USERS {
        let Some(mut stage) = Stage::set(user) else { continue };
        stage.settings = json!({ "level": "off" });
        let made = stage.run(
            "git init -q . && git add . && git commit -qm one && git worktree add -q ../../outside/tree",
        );
        assert_eq!(made.status, Some(0), "{made:?}");
        stage.settings = json!({ "workspace": stage.at("outside/tree") });
        let seen = stage.run(
            "cd ../../outside/tree && echo x >> file && git commit -qam two && git log --oneline | wc -l",
        );
        assert_eq!((seen.status, seen.out.as_str()), (Some(0), "2\n"), "{user:?}: {seen:?}");
    }
}

#[test]
fn cargo_works() {
    if !is_here("cargo") {
        return;
    }
    let Some(mut stage) = Stage::set(User::Root) else { return };
    // The toolchain is where the tests' own user has it.
    stage.settings = json!({ "home": std::env::var("HOME").unwrap() });
    let script = "set -e; cargo new -q --vcs none hello; cd hello; cargo run -q --offline; cargo test -q --offline | grep -c 'test result: ok'";
    let seen = stage.run(script);
    assert_eq!((seen.status, seen.out.as_str()), (Some(0), "Hello, world!\n1\n"), "{seen:?}");
}

#[test]
fn npm_works() {
    for user in USERS {
        let script = r#"
            mkdir dep app; echo '{"name":"dep","version":"1.0.0"}' > dep/package.json
            cd app; npm init -y >/dev/null; npm install --offline --no-audit --no-fund ../dep >/dev/null
            echo "console.log('ran')" > a.js
            npm pkg set scripts.go='node a.js' && npm run -s go; ls node_modules"#;
        works(user, "npm", script, "ran\ndep\n");
    }
}

#[test]
fn python_venv_and_multiprocessing_work() {
    for user in USERS {
        let script = r#"
            /usr/bin/python3 -m venv --without-pip v; v/bin/python - <<'EOF'
import multiprocessing as m, tempfile, subprocess
def f(x): return x * x
if __name__ == "__main__":
    s = m.get_context("fork").Semaphore(1)
    with s, m.get_context("fork").Pool(4) as p, tempfile.TemporaryDirectory() as d:
        print(sum(p.map(f, range(100))), subprocess.run(["true"]).returncode)
EOF"#;
        works(user, "/usr/bin/python3", script, "328350 0\n");
    }
}

#[test]
fn make_with_nested_shells_works() {
    for user in USERS {
        let script = r#"
            printf 'all: a b c d\na b c d:\n\t@sh -c "sh -c \\"echo x > $@; sleep 0.01\\""\n' > Makefile
            printf 'N ?= 0\nn:\n\t@if [ $(N) -lt 20 ]; then $(MAKE) -s -f nest N=$$(($(N)+1)); else echo deep; fi\n' > nest
            make -s -j4 all; ls a b c d | wc -l; make -s -j4 -f nest"#;
        works(user, "make", script, "4\ndeep\n");
    }
}

#[test]
fn here_documents_process_substitution_and_terminals_work() {
    for user in USERS {
        let script = "cat <<EOF | wc -c\n$(head -c 200000 /dev/zero | tr '\\0' x)\nEOF\n\
                      cat <(echo sub); mktemp -u >/dev/null; f=$(mktemp); echo $? ; rm $f; : > /dev/null";
        works(user, "bash", script, "200001\nsub\n0\n");
    }
    // The pipe is root's.
    works(User::Root, "bash", "echo out > /dev/stdout; echo err > /dev/stderr", "out\n");
    works(User::Root, "script", "script -qec 'tty >/dev/null && echo tty' /dev/null | tr -d '\\r'", "tty\n");
}
