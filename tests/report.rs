//! The report's page in a real browser: filters, evidence, no console error, and hostile texts that stay text.
//!
//! In: Chromium without a window, driven through its own protocol over two pipes. Out: what the page shows. Never: the
//! network.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::format_push_string
)]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

const BROWSERS: [&str; 4] = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/// A browser with one empty page.
struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    number: u64,
    session: Option<String>,
    /// Errors of the console, exceptions, addresses that were asked for.
    errors: Vec<String>,
    asked: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Browser {
    /// `None`, said aloud, where there is no browser.
    fn start(folder: &Path) -> Option<Self> {
        let here = |name: &&&str| Path::new("/usr/bin").join(name).exists();
        let Some(name) = BROWSERS.iter().find(here) else {
            eprintln!("SKIPPED: no Chromium here; this test did not run");
            return None;
        };
        let pipes = ["to", "from"].map(|pipe| folder.join(pipe));
        for pipe in &pipes {
            nix::unistd::mkfifo(pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        }
        // descriptors 3 and 4 are the protocol's
        let script = "exec \"$0\" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                      --remote-debugging-pipe --user-data-dir=\"$1\" about:blank 3<\"$2\" 4>\"$3\"";
        let child = Command::new("/bin/bash")
            .args(["-c", script, name])
            .args([&folder.join("profile"), &pipes[0], &pipes[1]])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = File::options().write(true).open(&pipes[0]).unwrap();
        let from = BufReader::new(File::open(&pipes[1]).unwrap());
        let (errors, asked) = (Vec::new(), Vec::new());
        let mut browser = Self { child, to, from, number: 0, session: None, errors, asked };
        let target = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let target = &target["targetId"];
        let session = browser.ask("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime", "Log", "Page", "Network"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    /// The next message; what belongs into the lists is kept.
    fn hear(&mut self) -> Value {
        let mut line = Vec::new();
        self.from.read_until(0, &mut line).unwrap();
        assert!(line.pop().is_some(), "the browser has ended");
        let message: Value = serde_json::from_slice(&line).unwrap();
        let what = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => self.errors.push(what["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if what["type"] != "log" => self.errors.push(what.to_string()),
            Some("Log.entryAdded") if what["entry"]["level"] == "error" => {
                self.errors.push(what["entry"].to_string());
            }
            Some("Network.requestWillBeSent") => {
                self.asked.push(what["request"]["url"].as_str().unwrap().to_owned());
            }
            _ => {}
        }
        message
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let heard = self.hear();
            if heard["id"] == json!(self.number) {
                assert!(heard["error"].is_null(), "{method}: {heard}");
                return heard["result"].clone();
            }
        }
    }

    /// Shows a page; gives once it is there.
    fn open(&mut self, page: &Path) {
        self.errors.clear();
        self.asked.clear();
        self.ask("Page.navigate", &json!({ "url": format!("file://{}", page.display()) }));
        // images that can't be loaded are known to be so by then
        while self.hear()["method"] != "Page.loadEventFired" {}
    }

    /// The value of an expression in the page, waited for if it is a promise.
    fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", &asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Sets a control as a person would and gives how many are found and shown.
    fn choose(&mut self, control: &str, value: &str) -> (String, u64) {
        let seen = self.value(&format!(
            "(() => {{ const c = document.getElementById({}); c.value = {}; c.dispatchEvent(new Event('input'));
               return [document.getElementById('found').textContent, document.querySelectorAll('#events details').length]; }})()",
            json!(control), json!(value)
        ));
        (seen[0].as_str().unwrap().to_owned(), seen[1].as_u64().unwrap())
    }
}

/// Texts that would like to be more than text. Each sets the title, where it gets to.
const HOSTILE: &[&str] = &[
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<!--<script>document.title='owned'//-->",
    "--></script><svg onload=\"document.title='owned'\">",
    "\u{2028}document.title='owned'\u{2029}",
    "\u{202e}document.title='owned'\u{2066}\u{200b}\u{feff}",
    "`${document.title='owned'}`",
    "'\"><iframe srcdoc=\"<script>parent.document.title='owned'</script>\">",
    "\\u003cscript>document.title='owned'\\u003c/script>",
    "\\\"};document.title='owned';//",
    "{{SCRIPT}}{{DATA}}</style></title></noscript><base href=//x.invalid>",
    "<a href=\"javascript:document.title='owned'\">x</a><meta http-equiv=refresh content=0;url=//x.invalid>",
    "__proto__\",\"constructor",
    "\u{0}\u{1b}]0;owned\u{7}\u{7f}",
];

/// A log: hostile texts in every field of text, and 250 ordinary records.
fn log(path: &Path) {
    let mut out = String::new();
    for (number, text) in HOSTILE.iter().enumerate() {
        let record = json!({
            "time": format!("2026-11-30T12:00:{number:02}.000000Z"), "verdict": "warn", "outcome": "blocked",
            "score": text, "structure": text, "semantics": text, "paths": text, "patterns": text, "rules": text,
            "coverage": text, "notes": text, "uid": 1, "parent": text, "framework": text, "cwd": text,
            "confinement": text, "sha256": text, "text": text, "micros": 9_999_999,
        });
        out.push_str(&format!("{record}\n"));
    }
    for number in 0..250 {
        let (verdict, outcome, rules) = match number % 5 {
            0 => ("deny", "blocked", "filesystem.delete-system,network.shell"),
            1 => ("deny", "observed", "filesystem.delete-system"),
            _ => ("allow", "run", ""),
        };
        let agent = if number % 2 == 0 { "codex" } else { "claude" };
        let record = json!({
            "time": format!("2026-11-30T11:{:02}:{:02}.000000Z", number / 60, number % 60), "verdict": verdict,
            "outcome": outcome, "score": "0.5", "structure": "0.1", "rules": rules, "framework": agent, "cwd": "/p",
            "text": format!("command number {number}"), "sha256": format!("{number:064x}"), "micros": 100,
        });
        out.push_str(&format!("{record}\n"));
    }
    std::fs::write(path, out).unwrap();
}

#[test]
fn the_page_filters_opens_evidence_and_runs_nothing_of_what_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (records, page) = (folder.path().join("log.jsonl"), folder.path().join("report.html"));
    let Some(mut browser) = Browser::start(folder.path()) else { return };
    log(&records);
    let made = Command::new(env!("CARGO_BIN_EXE_agent-shctl"))
        .args(["report", "--file"])
        .arg(&records)
        .arg("--html")
        .arg(&page)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    browser.open(&page);
    let total = 250 + HOSTILE.len();
    assert_eq!(browser.choose("verdict", ""), (format!("{total} found"), 100));
    // each filter by itself, and two together
    assert_eq!(browser.choose("verdict", "deny"), ("100 found".to_owned(), 100));
    assert_eq!(browser.choose("outcome", "observed"), ("50 found".to_owned(), 50));
    browser.choose("verdict", "");
    browser.choose("outcome", "");
    assert_eq!(browser.choose("rule", "network.shell"), ("50 found".to_owned(), 50));
    assert_eq!(browser.choose("agent", "codex"), ("25 found".to_owned(), 25));
    browser.choose("rule", "");
    assert_eq!(browser.choose("agent", "claude").0, "125 found");
    browser.choose("agent", "");
    assert_eq!(browser.choose("query", "NUMBER 249"), ("1 found".to_owned(), 1));
    assert_eq!(browser.choose("query", "no such piece"), ("0 found".to_owned(), 0));
    assert_eq!(browser.choose("query", "</script>").0, format!("{} found", with("</script>")));
    browser.choose("query", "");
    let more = browser.value(
        "(() => { document.getElementById('more').click(); return document.querySelectorAll('#events details').length; })()",
    );
    assert_eq!(more, 200);
    evidence(&mut browser);
    // every hostile record opened, in each of its places; no frame, image, script or link came of it
    let opened = browser.value(
        "Promise.all([...document.querySelectorAll('details')].map((d) => new Promise((done) => {
           d.addEventListener('toggle', () => done(1), { once: true }); d.open = !d.open; }))).then((all) => all.length)",
    );
    assert!(opened.as_u64().unwrap() > 150, "{opened}");
    let strange = browser.value(
        "document.querySelectorAll('img, iframe, svg[onload], base, a, meta[http-equiv=refresh]').length
         + document.scripts.length - 2",
    );
    assert_eq!(strange, 0);
    assert_eq!(browser.value("document.title"), "agent-sh report");
    assert_eq!(browser.value("Object.keys(Object.prototype).length"), 0);
    assert_eq!(browser.errors, Vec::<String>::new());
    let elsewhere: Vec<&String> = browser.asked.iter().filter(|url| !url.starts_with("file://")).collect();
    assert!(elsewhere.iter().all(|url| url.starts_with("data:")), "{elsewhere:?}");
    schemes(&mut browser);
    caught(&mut browser, &page);
}

fn with(piece: &str) -> usize {
    HOSTILE.iter().filter(|text| text.contains(piece)).count()
}

/// A refused command's line is opened, and shows what spoke against it.
fn evidence(browser: &mut Browser) {
    browser.choose("query", "command number 5");
    let seen = browser.value(
        "new Promise((done) => {
           const line = [...document.querySelectorAll('#events details')].find((d) => d.textContent.endsWith('command number 5'));
           line.addEventListener('toggle', () => done(line.querySelector('dl').innerText), { once: true });
           line.open = true; })",
    );
    let seen = seen.as_str().unwrap();
    for piece in ["filesystem.delete-system, network.shell", "0.5 (structure 0.1", "/p", "claude"] {
        assert!(seen.contains(piece), "{piece}: {seen}");
    }
    browser.choose("query", "");
}

/// Light and dark are two.
fn schemes(browser: &mut Browser) {
    let seen = ["light", "dark"].map(|scheme| {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.ask("Emulation.setEmulatedMedia", &media);
        browser
            .value("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
    });
    assert_ne!(seen[0][0], seen[1][0]);
    assert_ne!(seen[0][1], seen[1][1]);
}

/// What is looked for above would be seen: markup in the page is held by its policy and told to the console, and
/// without the policy it runs.
fn caught(browser: &mut Browser, page: &Path) {
    let html = std::fs::read_to_string(page).unwrap();
    let broken = page.with_extension("broken.html");
    let with = html.replace("</main>", "</main><img src=\"data:,\" onerror=\"document.title='owned'\">");
    std::fs::write(&broken, &with).unwrap();
    browser.open(&broken);
    assert_eq!(browser.value("document.title"), "agent-sh report");
    assert!(
        browser.errors.iter().any(|error| error.contains("Content Security Policy")),
        "{:?}",
        browser.errors
    );
    std::fs::write(&broken, with.replace("Content-Security-Policy", "X-None")).unwrap();
    browser.open(&broken);
    assert_eq!(browser.value("document.title"), "owned");
}
