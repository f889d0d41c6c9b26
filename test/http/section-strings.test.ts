// /edit-section and strings of several lines: where code is indented, they keep their value.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { often } from '../often.ts'
import { Random, SEED } from '../random.ts'
import { bytesOf, check, startServer } from './test-server.ts'

// One server: each has a thread of its own that has to start.
const server = await startServer(t)

async function edited(name: string, file: string, edit: { action: string; symbol: string; new_text: string }) {
  writeFileSync(join(server.root, name), file)
  await check(t, server, '/edit-section', { path: name, ...edit }, 200, { warnings: [] })
  return bytesOf(server, name)
}

t.test('indents code, and leaves lines that begin inside a string as they are', async t => {
  const python = 'class A:\n    def f():\n        return 1\n'
  const cases: [
    name: string,
    path: string,
    file: string,
    action: string,
    symbol: string,
    new_text: string,
    result: string
  ][] = [
    [
      'a string that is appended to a body',
      'a.py',
      python,
      'append',
      'A.f',
      's = """\nx\n"""\nreturn s',
      `${python}        s = """\nx\n"""\n        return s\n`
    ],
    [
      'one in a function that is replaced',
      'a.py',
      python,
      'replace',
      'A.f',
      'def f():\n    s = """\n  b\n"""\n    return s',
      'class A:\n    def f():\n        s = """\n  b\n"""\n        return s\n'
    ],
    [
      'one in a function that is put after another, with a blank line before it',
      'a.py',
      python,
      'insert_after',
      'A.f',
      "\n\ndef g():\n    return f'''{\n  1\n}\n'''\n",
      `${python}\n\n    def g():\n        return f'''{\n  1\n}\n'''\n`
    ],
    [
      'a docstring, which is no value of the code',
      'a.py',
      python,
      'insert_after',
      'A.f',
      'def g():\n    """G.\n\n    More.\n    """\n    return (1,\n      2)',
      `${python}\n    def g():\n        """G.\n\n        More.\n        """\n        return (1,\n          2)\n`
    ],
    [
      'text that is indented more than the file',
      'a.py',
      python,
      'replace',
      'A.f',
      '            def f():\n                return """\n                b"""',
      'class A:\n    def f():\n        return """\n                b"""\n'
    ],
    [
      'a template, and one between empty braces',
      'a.ts',
      'class A {\n  f () {}\n}\n',
      'append',
      'A.f',
      `type T = \`a\n\${string}\`\nreturn \`x\n\${[\n1]}\``,
      `class A {\n  f () {\n    type T = \`a\n\${string}\`\n    return \`x\n\${[\n1]}\`\n  }\n}\n`
    ],
    [
      'a string that goes on after a backslash, and a value in JSX',
      'a.jsx',
      'class A {\n  f () {}\n}\n',
      'append',
      'A.f',
      'const a = "x\\\ny"\nreturn <a b="x\ny">\n</a>',
      'class A {\n  f () {\n    const a = "x\\\ny"\n    return <a b="x\ny">\n    </a>\n  }\n}\n'
    ],
    [
      'heredocs, with the words that end them',
      'a.rb',
      'class A\n  def f\n    1\n  end\nend\n',
      'append',
      'A.f',
      'a = <<A + <<-B + <<~C\nx #{1}\nA\ny\n  B\n  z\nC\nb = "x\ny"\nc = `x\ny`\nd = :"x\ny"\ne = /x\ny/\nb',
      'class A\n  def f\n    1\n    a = <<A + <<-B + <<~C\nx #{1}\nA\ny\n  B\n  z\nC\n' +
        '    b = "x\ny"\n    c = `x\ny`\n    d = :"x\ny"\n    e = /x\ny/\n    b\n  end\nend\n'
    ],
    [
      'heredocs of a shell',
      'a.sh',
      'f() {\n  true\n}\n\ng() {\n  true\n}\n',
      'append',
      'f',
      "cat <<A\nx\nA\ncat <<-A\n\tx\n\tA\necho \"x\ny\" 'x\ny'\necho $'x\ny'\ntrue",
      "f() {\n  true\n  cat <<A\nx\nA\n  cat <<-A\n\tx\n\tA\n  echo \"x\ny\" 'x\ny'\n  echo $'x\ny'\n  true\n}\n\ng() {\n  true\n}\n"
    ],
    [
      'strings of PHP, and what it prints as it is',
      'a.php',
      '<?php\nfunction f() {\n    return 1;\n}\n',
      'prepend',
      'f',
      "$a = <<<A\nx\nA;\n$b = <<<'B'\nx\nB;\n$c = \"x\n$a\" . 'x\ny' . `x\ny`;\n?>\n<b>\n<?php\n$d = 1;",
      "<?php\nfunction f() {\n    $a = <<<A\nx\nA;\n    $b = <<<'B'\nx\nB;\n    $c = \"x\n$a\" . 'x\ny' . `x\ny`;\n" +
        '    ?>\n<b>\n<?php\n    $d = 1;\n    return 1;\n}\n'
    ],
    [
      'raw strings of Go',
      'a.go',
      'package a\n\nfunc f() {\n\tg()\n}\n',
      'append',
      'f',
      'h(`x\ny`)\ng()',
      'package a\n\nfunc f() {\n\tg()\n\th(`x\ny`)\n\tg()\n}\n'
    ],
    [
      'strings of Rust',
      'a.rs',
      'fn f() {\n    g();\n}\n',
      'append',
      'f',
      'h("x\ny", r#"x\ny"#, b"x\ny");\nprintln!("x\ny");\ng();',
      'fn f() {\n    g();\n    h("x\ny", r#"x\ny"#, b"x\ny");\n    println!("x\ny");\n    g();\n}\n'
    ],
    [
      'strings of C++, also in macros',
      'a.cpp',
      'void f() {\n  g();\n}\n',
      'append',
      'f',
      'h(R"(x\ny)", "x\\\ny");\n#define X "x\\\ny"\ng();',
      'void f() {\n  g();\n  h(R"(x\ny)", "x\\\ny");\n  #define X "x\\\ny"\n  g();\n}\n'
    ],
    [
      'strings of C#',
      'A.cs',
      'class A {\n    void F() {\n        G();\n    }\n}\n',
      'append',
      'A.F',
      'H(@"x\ny", $@"x\n{y}", """\n x\n """, $"""\n x\n """);\nG();',
      'class A {\n    void F() {\n        G();\n        H(@"x\ny", $@"x\n{y}", """\n x\n """, $"""\n x\n """);\n        G();\n    }\n}\n'
    ],
    [
      'text blocks of Java',
      'A.java',
      'class A {\n  void f() {\n    g();\n  }\n}\n',
      'append',
      'A.f',
      'h("""\n  x\n  """);\ng();',
      'class A {\n  void f() {\n    g();\n    h("""\n  x\n  """);\n    g();\n  }\n}\n'
    ],
    [
      'strings of CSS',
      'a.css',
      'a {\n  b: c;\n}\n',
      'append',
      'a',
      'content: "x\\\ny";\nd: e;',
      'a {\n  b: c;\n\n  content: "x\\\ny";\n  d: e;\n}\n'
    ]
  ]
  for (const [name, path, file, action, symbol, new_text, result] of cases) {
    t.equal(await edited(path, file, { action, symbol, new_text }), result, name)
  }
  const crlf = await edited('a.py', python.replaceAll('\n', '\r\n'), {
    action: 'append',
    symbol: 'A.f',
    new_text: 's = """\nx\n"""\nreturn s'
  })
  t.equal(crlf, `${python}        s = """\nx\n"""\n        return s\n`.replaceAll('\n', '\r\n'), 'lines of the file')
})

t.test('indents comments of several lines as the code around them', async t => {
  const file = 'class A {\n  f () {}\n}\n'
  const new_text = '/*\n * a\n */\ng () {}'
  t.equal(
    await edited('a.js', file, { action: 'append', symbol: 'A', new_text }),
    'class A {\n  f () {}\n\n  /*\n   * a\n   */\n  g () {}\n}\n'
  )
})

t.test('law: code is indented, strings keep their lines, whatever stands beside them', async t => {
  // Two heredocs that begin on one line are too much for the grammar of Bash.
  /** Statements as lines; those after the first that begin with `|` lie in a string, without that mark. */
  const statements: Record<string, string[]> = {
    py: ['a = 1', 'b = """\n|x\n|  y"""', "c = ('''\n|''',\n  2)", 'if a:\n  d = f"""{a}\n|\n|"""', '# "', "e = '\"'"],
    js: ['a()', 'b(`\n|x\n|  y`)', `c(\n  \`\${a}\n|\`,\n  2\n)`, 'if (a) {\n  d("x\\\n|y")\n}', '// `', 'e("`")'],
    sh: ['true', 'cat <<A\n|x\n|A', 'cat <<-B\n|\ty\n|B', 'if a; then\n  echo "\n|x"\nfi', '# "', "b='\"'"],
    rb: ['a', 'b(<<A)\n|x\n|A', 'c(<<~A,\n|x\n|A\n  2)', 'if a\n  d "x\n|"\nend', '# "', "e = '\"'"]
  }
  const bodies: Record<string, [file: string, symbol: string, end: string]> = {
    py: ['class A:\n    def f():\n        z = 1\n', 'A.f', ''],
    js: ['class A {\n    f() {\n        z()\n    }\n}\n', 'A.f', '    }\n}\n'],
    sh: ['f() {\n        z\n}\n', 'f', '}\n'],
    rb: ['class A\n    def f\n        z\n    end\nend\n', 'A.f', '    end\nend\n']
  }
  for (let round = 0; round < often(400, 60, 15); round++) {
    const random = new Random(SEED + round)
    const language = random.pick(Object.keys(statements))
    const [file, symbol, end] = bodies[language]!
    const own = random.pick(['', '  ', '            '])
    const lines = Array.from({ length: 1 + random.int(5) }, () => random.pick(statements[language]!)).flatMap(text =>
      text.split('\n')
    )
    const put = (indent: string) => lines.map(line => (line.startsWith('|') ? line.slice(1) : indent + line)).join('\n')
    const result = await edited(`a.${language}`, file, { action: 'append', symbol, new_text: put(own) })
    const wanted = `${file.slice(0, file.length - end.length)}${put(' '.repeat(8))}\n${end}`
    if (result !== wanted) {
      t.equal(result, wanted, `SEED=${SEED} round ${round}: ${language}`)
      return
    }
  }
  t.pass('held')
})
