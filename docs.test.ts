/** The documents test themselves: what they name must exist, so that they cannot grow old unseen. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { Command } from 'commander'
import { parseAllDocuments } from 'yaml'
import { builtinKinds } from '@skerry/kinds'
import { checkFields } from '@skerry/bodies'
import { isJsonObject, type Kind } from '@skerry/api'
import { exitCodes } from '@skerry/base'
import { clusterAccessKind, clusterKind, trafficContractKind } from '@skerry/fleet-kinds'
import { offlineKinds } from '@skerry/node-api'
import { edgeClusterKind, edgeJobKinds } from '@skerry/provisioning'
import { addCommands } from './cmd/command-table.ts'
import { checkPaths } from './dev/request-paths.ts'
import { documentedProofs, unreadProofs } from './dev/documented-proofs.ts'
import { sourceFiles } from './dev/source-files.ts'

const root = import.meta.dirname

const files = sourceFiles()
const documents = files.filter((file) => file.endsWith('.md'))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

interface Fence {
  language: string
  text: string
}

const fencePattern = /^( *)```(\w*)\n([\s\S]*?)^ *```$/gm

function fencesOf(markdown: string): Fence[] {
  return [...markdown.matchAll(fencePattern)].map((match) => ({
    language: match[2] ?? '',
    text: (match[3] ?? '').replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
  }))
}

function proseOf(markdown: string): string {
  return markdown.replaceAll(fencePattern, '')
}

function inlineCodeOf(markdown: string): string[] {
  return [...proseOf(markdown).matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '')
}

/** Returns the anchors that code hosts make of the headings: lower case, letters, digits, dashes. */
function anchorsOf(markdown: string): Set<string> {
  const headings = proseOf(markdown).matchAll(/^#+ +(.+)$/gm)
  return new Set(
    [...headings].map((match) =>
      (match[1] ?? '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}

test('every relative link in a document leads somewhere', () => {
  const wrong: string[] = []
  for (const file of documents) {
    const markdown = proseOf(read(file))
    const links = [
      ...markdown.matchAll(/\]\(([^)\s]+)\)/g),
      ...markdown.matchAll(/(?:src|srcset|href)="([^"]+)"/g),
    ]
    for (const [, target = ''] of links) {
      if (/^[a-z]+:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const linked = path === '' ? file : join(dirname(file), path)
      if (!existsSync(join(root, linked))) wrong.push(`${file}: ${target}`)
      else if (anchor !== undefined && !anchorsOf(read(linked)).has(anchor))
        wrong.push(`${file}: ${target} has no such heading`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('every test that a document names as proof exists', () => {
  const proofs = documents.flatMap((document) => documentedProofs(document, read(document)))
  const wrong = proofs.filter(({ file, name }) => {
    const source = existsSync(join(root, file)) ? read(file) : ''
    return !source.replaceAll('’', "'").includes(name)
  })
  assert.deepEqual(wrong, [])
  assert.ok(proofs.length > 30, 'ARCHITECTURE.md names its proofs')
})

test('every title that a document quotes next to a test is read as a proof', () => {
  const link = '([some.test.ts](some.test.ts))'
  const forms: readonly (readonly [text: string, unread: readonly string[]])[] = [
    [`“one” ${link}`, []],
    [`(“one” and “two” ${link}), “three”, “four” ${link}`, []],
    ['(“one”, [some.test.ts](some.test.ts))', ['one']],
    ['“one” ([some.test.ts](some.test.ts), scripts `a` and `b`)', ['one']],
    [`“one” or “two” ${link}`, ['one']],
    ['the line says “one”. The test is [some.test.ts](some.test.ts)', []],
  ]
  for (const [text, unread] of forms) assert.deepEqual(unreadProofs(text), unread, text)
  const found = documents.flatMap((file) => unreadProofs(read(file)).map((t) => `${file}: ${t}`))
  assert.deepEqual(found, [])
})

test('every path and file name in the architecture exists', () => {
  const architecture = read('ARCHITECTURE.md')
  const modules = new Set(files.map((file) => basename(file, '.ts')))
  const packages = new Set(files.flatMap((file) => /^packages\/([^/]+)\//.exec(file)?.[1] ?? []))
  const wrong = inlineCodeOf(architecture).filter((code) => {
    if (/^(packages|cmd|roles|testing|dev)\/\S+\.ts$/.test(code)) return !files.includes(code)
    return false
  })
  const [, paths = ''] = architecture.split(/^## Request paths$/m)
  const steps = inlineCodeOf(paths.split(/^## /m)[0] ?? '').filter((code) => /^[a-z-]+$/.test(code))
  for (const step of steps) if (!modules.has(step) && !packages.has(step)) wrong.push(step)
  for (const name of packages) {
    if (!architecture.includes(`| \`${name}\` |`)) wrong.push(`packages/${name} is not on the map`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(steps.length > 30, 'the request paths name files')
})

test('the request paths of the architecture follow the imports', () => {
  const sources = files.filter(
    (file) => /^(packages|roles|cmd)\/.*\.ts$/.test(file) && !/\.test\.ts$|\/testing\//.test(file),
  )
  const [, paths = ''] = read('ARCHITECTURE.md').split(/^## Request paths$/m)
  const [, ...items] = (paths.split(/^## /m)[0] ?? '').split(/^(?=- )/m)
  const { wrong, checked } = checkPaths(items.join(''), sources)
  assert.deepEqual(wrong, [])
  assert.ok(checked > 120, `${checked} arrows`)
})

/** Lines of a shell fence, those continued by a backslash as one, without prompts. */
function shellLines({ text }: Fence): string[] {
  return text.replaceAll(/\\\n\s*/g, '').split('\n')
}

/** The words after `skerry` in a piece of a command line; undefined when it is not ours. */
function skerryWords(piece: string): string[] | undefined {
  const match = /^\s*(?:\$ )?(?:sudo )?(?:\.\/)?skerry(?: (.*))?$/.exec(piece)
  return match === null ? undefined : (match[1] ?? '').trim().split(/\s+/).filter(Boolean)
}

function commandFault(program: Command, words: readonly string[]): string | undefined {
  let command = program
  const rest = [...words]
  while (command.commands.length > 0 && rest.length > 0 && !rest[0]?.startsWith('-')) {
    const name = rest.shift() ?? ''
    const next = command.commands.find((each) => each.name() === name)
    if (next === undefined) return `no command "${name}"`
    command = next
  }
  for (const flag of rest.filter((word) => /^--?[a-z]/i.test(word))) {
    const [name = ''] = flag.split('=')
    const isKnown =
      ['--help', '-h', '--version', '-V'].includes(name) ||
      command.options.some(({ short, long }) => short === name || long === name)
    if (!isKnown) return `no option ${name} of "${command.name()}"`
  }
  return undefined
}

test('every skerry command and option in a document exists', () => {
  const program = new Command('skerry')
  addCommands(program)
  const wrong: string[] = []
  let commands = 0
  for (const file of documents) {
    const markdown = read(file)
    const shell = fencesOf(markdown).filter(({ language }) => ['sh', 'console'].includes(language))
    const lines = [...inlineCodeOf(markdown), ...shell.flatMap(shellLines)]
    for (const piece of lines.flatMap((line) => line.replace(/ #.*$/, '').split(/&&|\||;|>/))) {
      const words = skerryWords(piece)
      if (words === undefined) continue
      commands += 1
      const fault = commandFault(program, words)
      if (fault !== undefined) wrong.push(`${file}: ${piece.trim()}: ${fault}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(commands > 20, 'the documents show commands')
})

test('each role of the README has a unit of systemd that starts a command with options that exist', () => {
  const program = new Command('skerry')
  addCommands(program)
  const units = files.filter((file) => /^packaging\/systemd\/.*\.service$/.test(file))
  const started = units.flatMap((unit) => {
    const line = /^ExecStart=\S*\/skerry (.*)$/m.exec(read(unit))?.[1]
    return line === undefined ? [] : [{ unit, words: line.split(' ') }]
  })
  for (const { unit, words } of started) assert.equal(commandFault(program, words), undefined, unit)
  const [, table = ''] = read('README.md').split(/^## Roles$/m)
  const roles = [...(table.split(/^## /m)[0] ?? '').matchAll(/^\| `skerry (\w+)`/gm)]
  const named = roles.flatMap(([, role = '']) => (role === 'up' ? [] : [role]))
  assert.deepEqual(started.map(({ words: [role = ''] }) => role).toSorted(), named.toSorted())
})

/** Returns the refusal that kubectl would get with --validate=strict, or undefined if there is none. */
function manifestFault(kinds: readonly Kind[], value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'is not an object'
  const { apiVersion, kind } = value
  const known = kinds.find((each) => {
    const groupVersion = each.group === '' ? each.version : `${each.group}/${each.version}`
    return groupVersion === apiVersion && each.kind === kind
  })
  if (known === undefined) return `there is no kind ${String(apiVersion)} ${String(kind)}`
  const { schemas, schemaName } = known
  const { unknownFields } = checkFields({ object: value, schemas, schemaName })
  return unknownFields.length === 0 ? undefined : unknownFields.join(', ')
}

test('every manifest in a document or an example is valid', async () => {
  const builtin = await builtinKinds()
  const kinds = [
    ...builtin,
    clusterKind(builtin),
    clusterAccessKind(builtin),
    trafficContractKind(builtin),
    edgeClusterKind(builtin),
    ...edgeJobKinds(builtin),
    ...offlineKinds(builtin),
  ]
  const texts = [
    ...documents.flatMap((file) =>
      fencesOf(read(file))
        .filter(({ language }) => language === 'yaml')
        .map(({ text }) => ({ file, text })),
    ),
    ...files
      .filter((file) => /^examples\/.*\.ya?ml$/.test(file))
      .map((file) => ({ file, text: read(file) })),
  ]
  const wrong: string[] = []
  let manifests = 0
  for (const { file, text } of texts) {
    for (const document of parseAllDocuments(text)) {
      manifests += 1
      if (document.errors.length > 0) wrong.push(`${file}: ${document.errors.join(', ')}`)
      else {
        const fault = manifestFault(kinds, document.toJS())
        if (fault !== undefined) wrong.push(`${file}: ${fault}`)
      }
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(manifests > 5, 'there are manifests')
})

test('the documented exit codes are those of the program', () => {
  const rows = [...read('docs/operating.md').matchAll(/^\| (\d+) \| `(\w+)` \|/gm)]
  const documented = Object.fromEntries(rows.map(([, code, name]) => [name ?? '', Number(code)]))
  assert.deepEqual(documented, { ...exitCodes })
})
