/** The table of programs tests itself: what product and tests execute must be in it, or come with every Debian. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { API } from 'typescript/unstable/sync'
import type { Expression, Node, SourceFile } from 'typescript/unstable/ast'
import {
  isArrayLiteralExpression,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isIdentifier,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isSpreadElement,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  isTemplateExpression,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is'
import { systemPrograms } from './roles/up/programs-table.ts'
import { sourceFiles } from './dev/source-files.ts'

const root = import.meta.dirname

/** Packages that Debian 12 and 13 call essential, and apt itself, each with the programs of it that we execute. */
const basePrograms: Readonly<Record<string, readonly string[]>> = {
  apt: ['apt-config', 'apt-get'],
  bash: ['bash'],
  bsdutils: ['script'],
  coreutils:
    `cat cp date dirname du env false head id ln ls mkdir mkfifo nice printf readlink rm rmdir sha256sum sleep sort stat stty sync test timeout
    touch tr true uname yes`.split(/\s+/),
  dash: ['sh'],
  diffutils: ['cmp'],
  dpkg: ['dpkg', 'dpkg-deb'],
  findutils: ['find'],
  hostname: ['hostname'],
  'libc-bin': ['ldd'],
  // Opens the devices of testing/hosts/link-network.ts.
  'perl-base': ['perl'],
  sed: ['sed'],
  tar: ['tar'],
  'util-linux': ['nsenter', 'setpriv', 'unshare'],
}

/** Node and npm, which README.md asks for, and what they bring. */
const fromNode = ['node', 'npm', 'kubectl', 'helm']

/** Where the system has them or not, and nothing fails without. */
const optional: Readonly<Record<string, string>> = {
  'kube-apiserver': 'upstream, which dev/hack/upstream builds for a benchmark',
  'kube-controller-manager': 'the same',
  'kube-scheduler': 'the same',
  open: 'macOS opens a web page with it',
  'xdg-open': 'desktops have it; the address is printed, too',
  systemctl: 'asked only where systemd runs',
  'systemd-run': 'the same',
  openssl: 'skerry bench only',
  losetup: 'the same',
  mke2fs: 'the same',
  skopeo: 'skerry package --image-ref only; its error names it',
  pgrep: 'runs on machines that tests make of Debian packages',
  'no-such-program': 'a test of what is answered then',
}

const known = new Set([
  ...systemPrograms.map(({ program }) => program),
  ...Object.values(basePrograms).flat(),
  ...fromNode,
  ...Object.keys(optional),
])

/** Functions of node:child_process, and functions here that wrap them: the first argument of each is the program, or a list that starts with it. `start` of a string names a process. */
const executing = new Set(
  `spawn spawnSync execFile execFileSync execute run runToEnd start`.split(' '),
)

/** Words of the shell itself, for which there is no program. */
const shellWords = new Set(
  `! [ : alias case cd command do done echo elif else esac eval exec exit export false fi for if in kill printf pwd
   read return set shift source then trap true ulimit umask until wait while`.split(/\s+/),
)

interface Found {
  program: string
  place: string
}

/** A list of words that is a command, the unknown ones undefined; commands inside commands, too. */
function programsOf(words: readonly (string | undefined)[]): string[] {
  const [program, ...rest] = words
  if (program === undefined) return []
  const inner = innerCommand(program, rest)
  const script = /^(?:ba|da)?sh$/.test(program) && /^-\w*c$/.test(rest[0] ?? '') ? rest[1] : ''
  return [program, ...programsOf(inner), ...programsOfScript(script ?? '')]
}

function innerCommand(
  program: string,
  rest: readonly (string | undefined)[],
): readonly (string | undefined)[] {
  const afterFlags = (valued: readonly string[]): readonly (string | undefined)[] => {
    let at = 0
    while (rest[at]?.startsWith('-') && rest[at] !== '--') {
      at += valued.includes(rest[at] ?? '') ? 2 : 1
    }
    return rest.slice(rest[at] === '--' ? at + 1 : at)
  }
  if (program === 'ip' && rest[0] === 'netns' && rest[1] === 'exec') return rest.slice(3)
  if (program === 'nsenter') return afterFlags(['-t', '-S', '-G'])
  if (program === 'unshare') return afterFlags(['--propagation'])
  if (program === 'timeout') return afterFlags(['-s', '-k']).slice(1)
  if (program === 'setpriv' || program === 'exec') return afterFlags([])
  return []
}

/** Returns the first word of each simple command in a shell's text. Values that the text is given are left out. */
function programsOfScript(script: string, outer: readonly string[] = []): string[] {
  const functions = [...script.matchAll(/^\s*(\w+)\(\) \{/gm)].map(([, name = '']) => name)
  const own = [...outer, ...functions]
  const inside = [...script.matchAll(/\$\(([^()]*)\)/g)].flatMap(([, text = '']) =>
    programsOfScript(text, own),
  )
  const plain = script
    .replaceAll(/(^|\s)#.*$/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .replaceAll(/\$\([^()]*\)/g, '$x')
    .replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/g, '$x')
    .replaceAll(/^\s*(?:-?[\w*]+(?: \| )?)+\) /gm, '')
    .replaceAll(/\d?[<>]&?\s*\S+/g, ' ')
  const outside = plain.split(/[\n;|&(){}]+/).flatMap((part) => {
    let words = part.trim().split(/\s+/)
    const isSkipped = (word: string): boolean =>
      /^\w+=/.test(word) || /^(!|do|then|else|elif|if|while|until|exec|command|sudo)$/.test(word)
    while (words[0] !== undefined && isSkipped(words[0])) words = words.slice(1)
    const [first = ''] = words
    if (/^(for|case)$/.test(first) || shellWords.has(first) || own.includes(first)) return []
    return /^[a-z][\w.+-]*$/.test(first)
      ? programsOf(words.map((word) => (word.includes('$') ? undefined : word)))
      : []
  })
  return [...inside, ...outside]
}

/** Returns the lists of words that an expression can stand for; constants of the same file are followed. */
function commandsOf(expression: Expression, constants: Map<string, Expression>): Words[] {
  if (isStringLiteral(expression) || isNoSubstitutionTemplateLiteral(expression))
    return [[expression.text]]
  if (isTemplateExpression(expression)) return [[textOf(expression)]]
  if (isConditionalExpression(expression)) {
    return [expression.whenTrue, expression.whenFalse].flatMap((each) =>
      commandsOf(each, constants),
    )
  }
  if (isBinaryExpression(expression)) {
    return [expression.left, expression.right].flatMap((each) => commandsOf(each, constants))
  }
  if (isIdentifier(expression)) {
    const constant = constants.get(expression.text)
    return constant ? commandsOf(constant, new Map()) : []
  }
  if (isArrayLiteralExpression(expression)) {
    const words = expression.elements.flatMap((element): Words => {
      const isSpread = isSpreadElement(element)
      const [found] = commandsOf(isSpread ? element.expression : element, constants)
      return found ?? [undefined]
    })
    return [words]
  }
  const joined = isCallExpression(expression) && isPropertyAccessExpression(expression.expression)
  if (joined && expression.expression.name.text === 'join') {
    const [lines = []] = commandsOf(expression.expression.expression, constants)
    return [[lines.map((line) => line ?? '').join('\n')]]
  }
  return []
}

type Words = (string | undefined)[]

/** The text of a template; what is filled in is one unknown word. */
function textOf(expression: Expression): string {
  if (!isTemplateExpression(expression)) return ''
  return [
    expression.head.text,
    ...expression.templateSpans.map(({ literal }) => `$x${literal.text}`),
  ].join('')
}

function executedIn(file: string, source: SourceFile): Found[] {
  const constants = new Map<string, Expression>()
  const calls: { args: readonly Expression[]; line: number }[] = []
  const scripts: { text: Expression; line: number }[] = []
  const visit = (node: Node): void => {
    if (isVariableDeclaration(node) && isIdentifier(node.name) && node.initializer) {
      constants.set(node.name.text, node.initializer)
    }
    // A default of an option.
    if (isPropertyAssignment(node) && isIdentifier(node.name) && node.name.text === 'binary') {
      calls.push({ args: [node.initializer], line: 0 })
    }
    if (isCallExpression(node)) {
      const name = nameOf(node.expression)
      const line = source.text.slice(0, node.end).split('\n').length
      const isNamed = name === 'start' && isStringLiteral(node.arguments[0] ?? node)
      if (executing.has(name) && !isNamed) calls.push({ args: [...node.arguments], line })
      // End-to-end tests: where, and a text of a shell.
      const [, text] = node.arguments
      if (name === 'shell' && text !== undefined) scripts.push({ text, line })
    }
    node.forEachChild(visit)
  }
  visit(source)
  const ofScripts = scripts.flatMap(({ text, line }) =>
    commandsOf(text, constants)
      .flatMap(([script = '']) => programsOfScript(script))
      .map((program) => ({ program, place: `${file}:${line}` })),
  )
  const ofCalls = calls.flatMap(({ args: [first, second], line }) => {
    if (first === undefined) return []
    const rest = second === undefined ? [] : (commandsOf(second, constants)[0] ?? [])
    return commandsOf(first, constants)
      .flatMap((words) => programsOf(isArrayLiteralExpression(first) ? words : [...words, ...rest]))
      .map((program) => ({ program, place: `${file}:${line}` }))
  })
  return [...ofCalls, ...ofScripts]
}

/** `spawn`, the `run` of `host.run`, the `execFile` of `promisify(execFile)`. */
function nameOf(callee: Expression): string {
  if (isIdentifier(callee)) return callee.text
  if (isPropertyAccessExpression(callee)) return callee.name.text
  if (isCallExpression(callee) && nameOf(callee.expression) === 'promisify') {
    const [wrapped] = callee.arguments
    return wrapped === undefined ? '' : nameOf(wrapped)
  }
  return ''
}

function readTour(): string {
  const [, tour = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('## Five minutes')
  return [...tour.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text).join('\n')
}

function executedPrograms(): Found[] {
  const files = sourceFiles().filter(
    (file) =>
      /^((cmd|roles|packages|testing|examples|dev\/(?!hack\/)[^/]+)\/.*|[^/]+|dev\/[^/]+)\.ts$/.test(
        file,
      ) &&
      !/\/(generated|testdata)\//.test(file) &&
      /child_process|@skerry\/testing|TestHost|createTestNetwork|binary: '|\bshell\(/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
  )
  const api = new API({ cwd: root })
  try {
    const snapshot = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') })
    const program = snapshot.getProjects()[0]?.program
    const found = files.flatMap((file) => {
      const source = program?.getSourceFile(join(root, file))
      return source ? executedIn(file, source) : []
    })
    const texts = { skerry: readFileSync(join(root, 'skerry'), 'utf8'), 'README.md': readTour() }
    for (const [place, text] of Object.entries(texts)) {
      for (const program of programsOfScript(text)) found.push({ program, place })
    }
    return found.map(({ program: path, place }) => ({
      program: /^\/(usr\/)?s?bin\//.test(path) ? path.replace(/^.*\//, '') : path,
      place,
    }))
  } finally {
    api.close()
  }
}

const executed = executedPrograms().filter(({ program }) => /^[a-z][\w.+-]*$/.test(program))

test('each program that product and tests execute is in the table, or on every Debian', () => {
  const wrong = executed.filter(({ program }) => !known.has(program))
  assert.deepEqual(
    wrong.map(({ program, place }) => `${place}: ${program}`),
    [],
  )
  assert.ok(executed.length > 100, `only ${executed.length} programs are found in the code`)
})

test('each program of the table is executed', () => {
  const found = new Set(executed.map(({ program }) => program))
  const own = systemPrograms.filter(({ executedBy }) => executedBy === undefined)
  const unused = own.filter(({ program }) => !found.has(program))
  assert.deepEqual(
    unused.map(({ program }) => program),
    [],
  )
})

test('commands are found in lists, behind other commands, and in texts of a shell', () => {
  const table: readonly [found: string[], expected: string[]][] = [
    [programsOf(['ip', 'netns', 'exec', undefined, 'timeout', '3', 'a']), ['ip', 'timeout', 'a']],
    [programsOf(['nsenter', '-t', undefined, '-n', '--', 'a']), ['nsenter', 'a']],
    [programsOf(['sh', '-ec', 'X=1 a -b | c; for d in e; do f; done']), ['sh', 'a', 'c', 'f']],
    [programsOfScript('if ! a; then b "$(c d)" > e; fi # f'), ['c', 'a', 'b']],
  ]
  for (const [found, expected] of table) assert.deepEqual(found, expected)
})
