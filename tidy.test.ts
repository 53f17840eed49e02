/** The code tests its own style: rules of STYLE.md and ARCHITECTURE.md that the linter cannot see. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { englishSlipsIn, type SlipRule } from './dev/english-slips.ts'
import { exportsForTests, importedPastDoors } from './dev/export-exceptions.ts'
import { exportsOf } from './dev/export-users.ts'
import { doorPath, targetOf } from './dev/import-graph.ts'
import { sourceFiles } from './dev/source-files.ts'
import { importsIn } from './dev/source-imports.ts'

const root = import.meta.dirname

const sources = sourceFiles()
const code = sources.filter(
  (file) => /\.tsx?$/.test(file) && !/(^|\/)(generated|testdata)\//.test(file),
)
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Levels of ARCHITECTURE.md: a package may import packages of a lower level only. */
const levelOf: Readonly<Record<string, number>> = {
  base: 0,
  cel: 0,
  api: 1,
  pki: 1,
  'etcd-snapshot': 1,
  'offline-package': 1,
  bodies: 2,
  discovery: 2,
  'http2-server': 2,
  lua: 2,
  neighbours: 2,
  store: 2,
  client: 2,
  tunnel: 2,
  'etcd-server': 3,
  kinds: 3,
  manifests: 3,
  'controller-runtime': 3,
  'service-proxy': 3,
  apiserver: 4,
  'edge-apps': 4,
  controllers: 5,
  scheduler: 5,
  kubelet: 5,
  'node-api': 5,
  bootstrap: 5,
  'fleet-kinds': 5,
  'karmada-kinds': 6,
  interpreter: 7,
  membership: 7,
  provisioning: 7,
  gateway: 7,
  'cluster-agent': 8,
  'console-api': 8,
  propagation: 9,
  'virtual-clusters': 9,
  testing: 10,
}

function importsOf(file: string): string[] {
  return importsIn(read(file)).map(({ target }) => target)
}

/** Tests, and what a package keeps for its tests in a folder testing/, such as contract suites. */
function isTestCode(file: string): boolean {
  return /\.test\.ts$|(^|\/)testing\//.test(file)
}

function packageOf(file: string): string | undefined {
  return /^(?:packages\/([^/]+)|(testing))\//.exec(file)?.slice(1).find(Boolean)
}

function directoryOf(name: string): string {
  return name === 'testing' ? name : `packages/${name}`
}

/** Levels of the rooms above the packages: a room imports rooms of a lower level only. */
const roomLevels: Readonly<Record<string, number>> = {
  examples: 0,
  packages: 0,

  'roles/runtime': 1,
  'roles/admin': 2,
  'roles/program': 2,
  'roles/control-plane': 3,
  'roles/etcd': 4,
  'roles/store': 4,
  'roles/hub': 4,
  'roles/node': 4,
  'roles/agent': 4,
  'roles/site': 5,
  'roles/up': 6,
  'roles/machine': 7,
  'roles/package': 7,
  'roles/client': 8,
  cmd: 9,
  testing: 10,
  console: 10,
  dev: 11,
}

/** `roles/hub`, `cmd`; empty for the files at the top, which are tests. */
function roomOf(file: string): string {
  const [top = '', second = ''] = file.split('/')
  if (!file.includes('/')) return ''
  return top === 'roles' ? `${top}/${second}` : top
}

test('words start roles, roles are made of packages, and nothing imports tests or the developer’s tools', () => {
  const wrong: string[] = []
  for (const file of code) {
    const room = roomOf(file)
    if (room === '' || isTestCode(file)) continue
    for (const target of importsOf(file).filter((each) => each.startsWith('.'))) {
      const other = roomOf(join(dirname(file), target))
      if (other === room) continue
      const isLower = (roomLevels[other] ?? Infinity) < (roomLevels[room] ?? -1)
      if (!isLower) wrong.push(`${file}: ${room} may not import ${target}`)
    }
    const isProduct = room !== 'dev' && room !== 'examples'
    if (isProduct && importsOf(file).includes('@skerry/testing')) {
      wrong.push(`${file}: the product may not import @skerry/testing`)
    }
  }
  assert.deepEqual(wrong, [])
})

/** Levels of docs/howto/add-a-page.md: a folder of the console imports itself and lower ones. */
const consoleLevels: Readonly<Record<string, number>> = {
  words: 0,
  data: 1,
  parts: 2,
  pages: 3,
  app: 4,
}

test('pages of the console know no other page, no upper folder, and nothing of the program but types', () => {
  const wrong: string[] = []
  const levelIn = (file: string): number => consoleLevels[file.split('/')[1] ?? ''] ?? -1
  for (const file of code.filter((each) => each.startsWith('console/') && !isTestCode(each))) {
    const [, page] = /^console\/pages\/([^/]+)\//.exec(file) ?? []
    if (/^import (?!type )[^\n]*? from '@skerry\//m.test(read(file))) {
      wrong.push(`${file}: it imports more than types of a package`)
    }
    for (const target of importsOf(file)) {
      if (!target.startsWith('.')) continue
      const resolved = join(dirname(file), target)
      if (!resolved.startsWith('console/')) wrong.push(`${file}: ${target} leaves the console`)
      if (levelIn(resolved) > levelIn(file)) wrong.push(`${file}: ${target} is above`)
      const [, other = page] = /^console\/pages\/([^/]+)\//.exec(resolved) ?? []
      if (page !== undefined && other !== page) wrong.push(`${file}: ${target} is another page`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('packages import only lower levels, and only through their door', () => {
  const wrong: string[] = []
  for (const file of code) {
    const from = packageOf(file)
    const isTest = isTestCode(file)
    for (const target of importsOf(file)) {
      const inner = /^@skerry\/([^/]+)(\/.*)?$/.exec(target)
      if (inner?.[2]) wrong.push(`${file}: ${target} passes by the door`)
      const to = inner?.[1]
      if (to === undefined || from === undefined || to === from || isTest) continue
      const fromLevel = levelOf[from]
      const toLevel = levelOf[to]
      if (fromLevel === undefined || toLevel === undefined)
        wrong.push(`${file}: unknown package in ${target}`)
      else if (toLevel >= fromLevel) wrong.push(`${file}: ${from} may not import ${to}`)
    }
    if (from !== undefined) {
      for (const target of importsOf(file)) {
        if (!target.startsWith('.')) continue
        const resolved = join(dirname(file), target)
        if (packageOf(resolved) !== from && !isTest)
          wrong.push(`${file}: ${target} leaves its package`)
      }
    }
  }
  assert.deepEqual(wrong, [])
})

test('no folder imports another one in a circle', () => {
  assert.deepEqual(circlesOf(importedFolders()), [])
})

/** Maps each folder to the folders that its files import from by a path. Doors and tests do not count. */
function importedFolders(): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>()
  for (const file of code) {
    const isTest = isTestCode(file) && packageOf(file) !== 'testing'
    if (roomOf(file) === '' || isTest || file.endsWith('.test.ts') || isDoor(file)) continue
    const from = dirname(file)
    const to = folders.get(from) ?? new Set()
    folders.set(from, to)
    for (const target of importsOf(file)) {
      if (!target.startsWith('.') || basename(target) === 'limits-table.ts') continue
      const folder = dirname(join(from, target))
      if (folder !== from) to.add(folder)
    }
  }
  return folders
}

function isDoor(file: string): boolean {
  const name = packageOf(file)
  return name !== undefined && file === doorPath(name)
}

/** Strongly connected components of more than one folder. */
function circlesOf(folders: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reach = new Map<string, Set<string>>()
  for (const start of folders.keys()) {
    const seen = new Set<string>()
    const next = [start]
    for (let folder = next.pop(); folder !== undefined; folder = next.pop()) {
      for (const target of folders.get(folder) ?? []) {
        if (seen.has(target)) continue
        seen.add(target)
        next.push(target)
      }
    }
    reach.set(start, seen)
  }
  const left = new Set(folders.keys())
  const circles: string[][] = []
  for (const folder of left) {
    const circle = [...left].filter((other) => isMutual(folder, other, reach))
    for (const each of circle) left.delete(each)
    if (circle.length > 1) circles.push(circle)
  }
  return circles
}

function isMutual(one: string, other: string, reach: ReadonlyMap<string, Set<string>>): boolean {
  if (one === other) return true
  return (reach.get(one)?.has(other) ?? false) && (reach.get(other)?.has(one) ?? false)
}

test('each package declares the packages that it imports, and no others', () => {
  // The manifest of this repository.
  const root = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  const installed = new Set(
    ['dependencies', 'devDependencies'].flatMap((kind) => Object.keys(root[kind] ?? {})),
  )
  for (const name of Object.keys(levelOf)) {
    const used = { product: new Set<string>(), tests: new Set<string>() }
    for (const file of code.filter((each) => packageOf(each) === name)) {
      const isTest = isTestCode(file) && name !== 'testing'
      for (const target of importsOf(file)) {
        const [scope = '', inner = ''] = target.split('/')
        const dependency = target.startsWith('@') ? `${scope}/${inner}` : scope
        // Words in quotes after "from" are also found in texts.
        const isOutside = scope === '@skerry' ? inner !== name : installed.has(dependency)
        if (isOutside) used[isTest ? 'tests' : 'product'].add(dependency)
      }
    }
    // A manifest of this repository.
    const manifest = JSON.parse(read(`${directoryOf(name)}/package.json`)) as {
      dependencies?: Record<string, string>
      devDependencies?: Record<string, string>
    }
    const onlyTests = [...used.tests].filter((each) => !used.product.has(each))
    assert.deepEqual(Object.keys(manifest.dependencies ?? {}), [...used.product].toSorted(), name)
    assert.deepEqual(Object.keys(manifest.devDependencies ?? {}), onlyTests.toSorted(), name)
  }
})

/** Packages below base's users, and pages of a browser: they convert for themselves. */
const withoutBase = /^(?:packages\/(?:api|bodies|cel|discovery|kinds|pki)|console)\//

test('thrown values become errors and texts in one place', () => {
  const conversion =
    /([\w.]+) instanceof Error \? \1(\.message : String\(\1\)| : new Error\(String\(\1\)\))/
  const owners = new Set(['packages/base/as-error.ts', 'packages/base/message-of.ts'])
  const wrong = code.filter(
    (file) => !owners.has(file) && !withoutBase.test(file) && conversion.test(read(file)),
  )
  assert.deepEqual(wrong, [])
})

test('no error is judged by its text', () => {
  const judged =
    /\b(error|cause|reason|fault|failure)\.message\.(startsWith|endsWith|includes|match|search|indexOf)\(|\.(test|exec)\((error|cause|reason|fault|failure)\.message\)|\b(messageOf|String)\((error|cause|reason)\)\.(startsWith|endsWith|includes|match|search|indexOf)\(/
  const wrong = code.filter((file) => !file.endsWith('.test.ts') && judged.test(read(file)))
  assert.deepEqual(wrong, [])
})

/**
 * These look like bounds and stand where they are used, because something outside fixes them: a unit of time, a type's
 * range, a format, a protocol, or a scale of upstream.
 */
const fixedElsewhere: Readonly<Record<string, readonly string[]>> = {
  'lengths in what ciphers write': [
    'packages/apiserver/encryption/kms/seed-cipher.ts: seedBytes, infoBytes',
    'packages/apiserver/encryption/transformers/aes-transformers.ts: gcmNonceBytes, gcmTagBytes, blockBytes',
    'packages/apiserver/encryption/transformers/secretbox-transformer.ts: nonceBytes, tagBytes',
    'packages/console-api/sessions/sealed-text.ts: nonceBytes, tagBytes',
    'packages/virtual-clusters/view/page-token.ts: nonceBytes, tagBytes',
    'roles/control-plane/sealed-record.ts: keyBytes, nonceBytes, tagBytes',
  ],
  'lengths in frames, hashes and files': [
    'packages/apiserver/http/client-hello.ts: recordHeadBytes, recordBytesMax',
    'packages/apiserver/http/proxy-header.ts: fixedBytes, lineBytesMax',
    'packages/cluster-agent/work/shared-object.ts: hashChars',
    'packages/controllers/pods/pod-template.ts: collisionBytes',
    'packages/etcd-server/grpc/message-splitter.ts: prefixBytes',
    'packages/etcd-snapshot/bolt/bolt-layout.ts: pageHeaderBytes, elementBytes, bucketBytes, metaBytes',
    'packages/etcd-snapshot/bolt/bolt-reader.ts: pageBytesMin, pageBytesMax',
    'packages/etcd-snapshot/bolt/bolt-writer.ts: pageBytes, keyBytesMax',
    'packages/etcd-snapshot/checksum.ts: checksumBytes',
    'packages/etcd-snapshot/records/record-codec.ts: revisionBytes',
    'packages/gateway/services/framed-stream.ts: headerBytes',
    'packages/gateway/watch/frame-splitter.ts: lengthBytes',
    'packages/gateway/watch/protobuf-event.ts: lengthBytes',
    'packages/http2-server/connection/peer-settings.ts: settingBytes',
    'packages/http2-server/frames/frame-types.ts: frameHeadBytes, frameBytesMax, firstWindowBytes, windowBytesMax',
    'packages/http2-server/hpack/huffman.ts: bitsMax',
    'packages/kubelet/server/spdy-frames.ts: headBytes',
    'packages/store/store-file.ts: pageBytes',
    'packages/tunnel/frame/tunnel-frame.ts: frameHeaderBytes, firstCreditBytes',
    'packages/tunnel/frame/tunnel-link.ts: linkHeadBytes',
    'packages/tunnel/web-socket/frame-head.ts: controlBytesMax, frameHeadBytesMax',
    'packages/tunnel/web-socket/web-socket-endpoint.ts: closeReasonBytesMax',
    'packages/virtual-clusters/mapping/namespace-rule.ts: hashChars',
  ],
  'columns of printed labels': [
    'roles/client/clusters/cluster-describe.ts: labelChars',
    'roles/client/explain.ts: labelChars',
  ],
  'marks and scales of upstream and of the kernel': [
    'packages/apiserver/admission-plugins/service-account.ts: tokenSeconds',
    'packages/apiserver/subresources/service-account-token.ts: injectedSeconds',
    'packages/kubelet/resources/container-resources.ts: cpuQuotaMicrosMin, cpuSharesMin, cpuSharesMax',
    'packages/lua/lua-math-library.ts: bitsPerStep',
    'packages/lua/lua-run.ts: bytesPerStep',
    'packages/lua/lua-weight.ts: partsPerStep',
    'packages/scheduler/framework/plugin.ts: scoreMax',
    'packages/scheduler/http-extender.ts: extenderScoreMax',
  ],
  'names and settings rather than bounds, and upstream’s defaults of fields': [
    'packages/apiserver/api-server.ts: versionDefaults',
    'packages/apiserver/authn/request-header-authenticator.ts: requestHeaderDefaults',
    'packages/apiserver/service-addresses/service-allocator.ts: serviceAddressDefaults',
    'packages/kubelet/kubelet-config.ts: kubeletDefaults',
    'packages/scheduler/plugins/inter-pod-affinity.ts: interPodAffinityDefaults',
    'packages/scheduler/plugins/pod-topology-spread.ts: topologySpreadDefaults',
    'packages/scheduler/plugins/resource-plugins.ts: resourcesFitDefaults',
  ],
}

/** Matches constants of a file that are named after a bound: numbers, and frozen objects of them. */
const boundForms = [
  /^(?:export )?const (\w*(?:Max|Min|Ms|Bytes|Seconds|Chars|Tries|Kept|[wW]orkers|Mark|Replicas|PerTurn|PerLook|PerStep|Limit))(?:: number)? = -?[\d_][\d_ *e.+\-/()]*$/gm,
  /^(?:export )?const (\w*(?:[lL]imits|[bB]ounds|[dD]efaults))\b[^=]*= Object\.freeze/gm,
]
const unitOrRange = /^(?:(?:second|minute|hour|day|year)(?:Ms|Seconds)|int32Max)$/

/** Matches waits and retries whose numbers stand where they are used. */
const inlineWait =
  /\bcreateBackoff\(\s*\{\s*initialMs: [\d_]|\bAbortSignal\.timeout\([\d_]|\.sleep\([\d_]+,/

/** Tables are plain data: they import nothing, so that whatever loads one loads nothing else. */
const limitsTable = /^(?:packages\/[^/]+|roles\/[^/]+|cmd|console)\/limits-table\.ts$/

test('bounds stand in the table of their package', () => {
  const tables = code.filter((file) => basename(file) === 'limits-table.ts')
  assert.deepEqual(
    tables.filter((file) => !limitsTable.test(file) || importsOf(file).length > 0),
    [],
  )
  const found = code
    .filter((file) => /^(?:packages|roles|cmd|console)\//.test(file) && !isTestCode(file))
    .filter((file) => !tables.includes(file))
    .flatMap((file) => {
      const names = boundForms.flatMap((form) =>
        [...read(file).matchAll(form)].map(([, name = '']) => name),
      )
      const left = names.filter((name) => !unitOrRange.test(name))
      return left.length === 0 ? [] : [`${file}: ${left.join(', ')}`]
    })
  assert.deepEqual(found.toSorted(), Object.values(fixedElsewhere).flat().toSorted())
  const waiting = code
    .filter((file) => /^(?:packages|roles|cmd|console)\//.test(file) && !isTestCode(file))
    .filter((file) => file !== 'cmd/commands/machine-commands.ts' && inlineWait.test(read(file)))
  assert.deepEqual(waiting, [])
})

const optionsMax = 12

/** Another project's type dictates these. */
const longOptions = [
  // The CRI's ContainerConfig.
  'packages/kubelet/cri/container-runtime.ts: ContainerConfig has 16',
]

test('options are grouped by subject: no interface of them has more than 12 members', () => {
  const shape =
    /^(?:export )?interface (\w*(?:Options|Deps|Config|Flags|Parts|Settings))\b[^{]*\{\n([\s\S]*?)^\}/gm
  const product = code.filter(
    (file) => /^(?:packages|roles|cmd|console)\//.test(file) && !isTestCode(file),
  )
  const found = product.flatMap((file) =>
    [...read(file).matchAll(shape)].flatMap(([, name = '', body = '']) => {
      const count = [...body.matchAll(/^ {2}(?:readonly )?["'\w[\]-]+\??[:(<]/gm)].length
      return count > optionsMax ? [`${file}: ${name} has ${count}`] : []
    }),
  )
  assert.deepEqual(found.toSorted(), longOptions)
})

/** With `{ z }` the bundler keeps all of zod, and each role loads 400 KB more. */
test('zod is imported as a namespace, so that roles load only its used parts', () => {
  const slips = code.filter((file) => /import \{ z\b[^}]*\} from 'zod/.test(read(file)))
  assert.deepEqual(slips, [])
})

test('packages that describe kinds are pure: no node: imports', () => {
  const wrong = code.filter(
    (file) =>
      /^packages\/(api|bodies|cel|discovery|kinds)\//.test(file) &&
      !isTestCode(file) &&
      importsOf(file).some((target) => target.startsWith('node:')),
  )
  assert.deepEqual(wrong, [])
})

test('each package has a door that says what it does', () => {
  for (const name of Object.keys(levelOf)) {
    const door = `${directoryOf(name)}/mod.ts`
    assert.ok(sources.includes(door), `${door} is missing`)
    assert.match(read(door), /^\/\*\*/, `${door} starts without its contract`)
    assert.doesNotMatch(read(door), /export \* from/, `${door} exports everything of a file`)
    // The bundler looks a name up in the file behind the door: see dev/build/bundle-plugins.ts.
    assert.doesNotMatch(
      read(door),
      /[{,]\s*(type )?\w+ as \w/,
      `${door} gives something another name`,
    )
  }
})

const doorNamesMax = 120

test('every name of a door is imported by somebody outside the package, and no door has more than 120', () => {
  const imported = namesImported()
  const wrong: string[] = []
  for (const name of Object.keys(levelOf)) {
    const names = namesOfDoor(read(doorPath(name)))
    if (names.length > doorNamesMax) wrong.push(`${name} has ${names.length} names`)
    for (const each of names) {
      if (!imported.has(`${name} ${each}`)) wrong.push(`${name} ${each}`)
    }
  }
  assert.deepEqual(wrong, [])
})

/** Leaves out `export type *`: Kubernetes' own types, and all of them. */
function namesOfDoor(text: string): string[] {
  return importsIn(text).flatMap(({ names = [] }) => names)
}

/** Lists `package name` for each name that a file of another package or a room imports from a door. Tests do not count. */
function namesImported(): ReadonlySet<string> {
  const found = new Set<string>()
  for (const file of code) {
    const isOnlyTest = isTestOfOthers(file)
    for (const { target, names = [] } of importsIn(read(file))) {
      const [scope, name = ''] = target.split('/')
      if (scope !== '@skerry' || packageOf(file) === name) continue
      if (isOnlyTest && name !== 'testing') continue
      for (const each of names) found.add(`${name} ${each}`)
    }
  }
  return found
}

/** Tests, and the scenes of end-to-end tests. The room testing/ is a user like others: what it exports is checked itself. */
function isTestOfOthers(file: string): boolean {
  const isScene = packageOf(file) === 'testing' && !file.endsWith('.test.ts')
  return !file.includes('/') || file.startsWith('dev/e2e/') || (isTestCode(file) && !isScene)
}

test('every export is used outside its file, and not by tests alone', () => {
  const found = exportsOf(sources.filter((file) => /\.tsx?$/.test(file)))
  const checked = found.filter(({ key }) => {
    const [file = ''] = key.split(' ')
    return code.includes(file) && !/\.test\.ts$|-mutants\.ts$/.test(file)
  })
  const unused = checked.filter(({ users }) => users.length === 0)
  assert.deepEqual(unused, [])
  const isProduct = ({ key }: { key: string }): boolean =>
    /^(packages|roles|cmd|console)\//.test(key)
  const forTests = checked
    .filter((each) => isProduct(each) && !isTestCode(each.key.split(' ')[0] ?? ''))
    .filter(({ users }) => users.every(isTestOfOthers))
  assert.deepEqual(forTests.map(({ key }) => key).toSorted(), exportsForTests.toSorted())
})

test('imports from outside a package go through its door, but for listed files', () => {
  const past = new Set<string>()
  const wrong: string[] = []
  for (const file of code) {
    for (const each of importsIn(read(file))) {
      const target = targetOf(file, each) ?? ''
      const name = packageOf(target)
      if (!target.startsWith('packages/') || name === packageOf(file) || isTestCode(target))
        continue
      if (isDoor(target) && !each.target.startsWith('.')) continue
      past.add(target)
      const inDoor = namesOfDoor(read(doorPath(name ?? '')))
      const named = (each.names ?? []).filter((known) => inDoor.includes(known))
      if (named.length > 0) wrong.push(`${file}: the door has ${named.join(', ')}`)
      if (!isTestCode(file) && roomOf(file) !== 'dev') wrong.push(`${file}: ${each.target}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.deepEqual([...past].toSorted(), Object.keys(importedPastDoors).toSorted())
})

test('file names say what is in them', () => {
  const banned = new Set(['index', 'util', 'utils', 'helper', 'helpers', 'common', 'misc', 'types'])
  const wrong = code.filter((file) => {
    const name = basename(file).replace(/(\.test)?\.tsx?$/, '')
    return banned.has(name) || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)
  })
  assert.deepEqual(wrong, [])
})

test('no banned names in declarations', () => {
  const banned =
    /\b(?:class|interface|type|function|const)\s+(\w*(?:Manager|Helper|Util|Utils|Impl|V2)|(?:Abstract|Base|New|Enhanced)[A-Z]\w*)\b/g
  const wrong: string[] = []
  for (const file of code) {
    for (const match of read(file).matchAll(banned)) wrong.push(`${file}: ${match[1]}`)
  }
  assert.deepEqual(wrong, [])
})

test('no package reads argv, env or signals', () => {
  const wrong = code.filter(
    (file) =>
      file.startsWith('packages/') &&
      !isTestCode(file) &&
      /process\.(env|argv|on\()/.test(read(file)),
  )
  assert.deepEqual(wrong, [])
})

/** Matches code that reads the wall clock, or waits by it. */
const wallClock = [
  /(?<![.\w])set(?:Timeout|Interval)\(/,
  /\.setTimeout\(/,
  /\bset(?:Timeout|Interval)\b[^}]*\} from '(?:node:)?timers/,
  /\b(?:Date|performance)\.now\(/,
  /\bnew Date\(\)/,
  /(?<![.\w])Date\(\)/,
  /\bAbortSignal\.timeout\(/,
  /\bprocess\.(?:hrtime|uptime)\b/,
  /\bAtomics\.wait/,
  /\bsystemClock\b/,
]

/** The files of the product that read the real clock, by reason. All others take time from a `Clock`. */
const realClockReaders: Readonly<Record<string, readonly string[]>> = {
  'the clocks themselves, and their door': [
    'packages/base/clock.ts',
    'packages/base/mod.ts',
    'packages/base/real-timers.ts',
  ],
  'a line of the log has the time at which it was written, which nothing decides by': [
    'packages/base/log.ts',
  ],
  'the context of a role, from which all of its parts have their clock': [
    'roles/runtime/role-context.ts',
  ],
  'the machine’s own clock, which a node sets that has no battery for it': [
    'roles/node/machine-time.ts',
  ],
  'the browser’s clock, from which the pages of the console have theirs': [
    'console/data/browser/browser-clock.ts',
  ],
  'kubeconfigs and credentials that are read before a role begins': [
    'roles/admin/admin-cluster.ts',
    'roles/agent/agent-way.ts',
    'roles/agent/local-api.ts',
  ],
  'skerry up and its like wait for processes of the machine, while a person watches': [
    'roles/up/child-role.ts',
    'roles/up/down.ts',
    'roles/up/progress.ts',
    'roles/up/reset.ts',
    'roles/up/status.ts',
    'roles/up/stop-containers.ts',
    'roles/up/up.ts',
  ],
  'commands and clients hand the real clock on, limit the time of their requests, and print ages': [
    'cmd/commands/encryption-commands.ts',
    'cmd/commands/image-commands.ts',
    'cmd/commands/kubeconfig-commands.ts',
    'cmd/commands/login-commands.ts',
    'cmd/commands/machine-commands.ts',
    'cmd/commands/machine-join-commands.ts',
    'cmd/commands/package-commands.ts',
    'cmd/commands/simulate-commands.ts',
    'cmd/commands/up-commands.ts',
    'roles/client/certificates.ts',
    'roles/client/clusters/cluster-describe.ts',
    'roles/client/clusters/cluster-list.ts',
    'roles/client/clusters/follow-states.ts',
    'roles/client/clusters/join-command.ts',
    'roles/client/clusters/karmada-manifest.ts',
    'roles/client/clusters/registrations.ts',
    'roles/client/clusters/revoke-cluster.ts',
    'roles/client/console.ts',
    'roles/client/drill/drill-cut.ts',
    'roles/client/drill/drill.ts',
    'roles/client/drill/watch-node.ts',
    'roles/client/edge-clusters/edge-cluster-access.ts',
    'roles/client/explain.ts',
    'roles/client/forward/forward.ts',
    'roles/client/forward/service-connection.ts',
    'roles/client/kubeconfig/ask-hub.ts',
    'roles/client/kubeconfig/hub-kubeconfig.ts',
    'roles/client/kubeconfig/site-kubeconfig.ts',
    'roles/client/login/login.ts',
    'roles/client/login/print-credential.ts',
    'roles/client/move-store.ts',
    'roles/client/site/conflicts.ts',
    'roles/client/site/master-join-command.ts',
    'roles/client/site/node-join-command.ts',
    'roles/client/site/rotate-encryption.ts',
    'roles/client/site/site-members.ts',
    'roles/client/site/site-recovery.ts',
    'roles/client/user-tokens.ts',
    'roles/machine/own-site.ts',
  ],
}

test('no package reads the wall clock but base', () => {
  const found = code.filter((file) => {
    if (!/^(?:packages|roles|cmd|console)\//.test(file) || isTestCode(file)) return false
    const text = read(file)
    return wallClock.some((each) => each.test(text))
  })
  assert.deepEqual(found.toSorted(), Object.values(realClockReaders).flat().toSorted())
})

/** Matches code that waits for time to pass, or polls with its own loop. */
const handMadeWait = [
  /(?<![.\w])set(?:Timeout|Interval)\(/,
  /\bset(?:Timeout|Interval)\b[^}]*\} from '(?:node:)?timers/,
  /\bsystemClock\s*\.(?:sleep|setTimer)\(/,
  /\bAtomics\.wait/,
  /\bAbortSignal\.timeout\([^)]*\)\.addEventListener\(/,
  /\b(?:while|for) \([^\n]*(?:Date|performance)\.now\(/,
  /\bwhile \([^\n]*\)\s*(?:\{\s*)?await (?:nextTurn\(|new Promise[^\n]*\bsetImmediate\b)/,
  /\bfunction (?:until|waitFor|waitUntil|eventually)\b/,
]

/** Lists the test files that may do so, each with its reason. */
const handMadeWaits = [
  // End-to-end tests wait here: it names the awaited state, and polls with `until`.
  'dev/e2e/wait-for.ts',
  // These peers send something at intervals.
  'dev/e2e/history/history-clients.ts',
  'dev/e2e/history/history-load.ts',
  'dev/e2e/masters-load.ts',
  'dev/e2e/thin-link-edge.ts',
  'testing/odd-answers/odd-json-answers.ts',
  // This link delays packets.
  'testing/hosts/delayed-link.ts',
  // etcd counts its leases by its own clock.
  'packages/store/etcd/etcd-store.test.ts',
  'packages/etcd-server/store-contract.test.ts',
  // The clock of this node runs faster than the machine's.
  'packages/node-api/writes/replay-simulation.test.ts',
  // All others poll here.
  'testing/until.ts',
]

test('no test waits on the wall clock, is skipped for good or runs alone', () => {
  const tests = code.filter((file) => isTestCode(file) || file.startsWith('dev/e2e/'))
  const waiting = tests.filter((file) => {
    const text = read(file)
    return handMadeWait.some((each) => each.test(text))
  })
  assert.deepEqual(waiting, handMadeWaits.toSorted())
  // A slow machine reaches a deadline of a whole file in the middle of a good test.
  const deadline = /^const \w+ = AbortSignal\.timeout\(/m
  assert.deepEqual(
    tests.filter((file) => file.endsWith('.test.ts') && deadline.test(read(file))),
    [],
  )
  const left = tests.filter((file) => /(?:test|it|describe)\.(?:skip|todo|only)\(/.test(read(file)))
  assert.deepEqual(left, [])
})

test('nothing is left open without an owner', () => {
  const wrong = code.filter((file) => file !== 'tidy.test.ts' && /TODO|FIXME|XXX/.test(read(file)))
  assert.deepEqual(wrong, [])
})

test('the project speaks of itself only: no paths of the machine it was written on', () => {
  const wrong = sources.filter(
    (file) =>
      /\.(ts|tsx|md|json|yaml|sh|service)$/.test(file) &&
      file !== 'tidy.test.ts' &&
      /(^|[^a-z.])\/(work|farm)\/|\/bash_jobs/m.test(read(file)),
  )
  assert.deepEqual(wrong, [])
})

test('architecture stays readable: the map is under 300 lines', () => {
  assert.ok(read('ARCHITECTURE.md').split('\n').length < 300)
})

/** How many comments, paragraphs, titles and messages break each rule of STYLE.md's section on English. The numbers may only fall. */
const slipsMax: Readonly<Record<SlipRule, number>> = {
  'has no actor': 0,
  'says anew for again': 0,
  'says beside for in addition to': 0,
  'says by for over': 0,
  'starts without a subject': 0,
  'says absent for omitted': 0,
  'says whoever': 0,
  'says is no for is not a': 0,
  'text has no actor': 0,
  'text has a headless what': 0,
  'text says tells for reports': 0,
  'text says none for not one': 0,
  'text says so many': 0,
  'text says without given for if omitted': 0,
  'text says did not come by': 0,
}

test('comments, documents, titles and messages keep to the rules of English', () => {
  const counts = new Map<string, number>(Object.keys(slipsMax).map((rule) => [rule, 0]))
  for (const file of sources) {
    for (const { rule } of englishSlipsIn(file)) counts.set(rule, (counts.get(rule) ?? 0) + 1)
  }
  const wrong = Object.entries(slipsMax)
    .filter(([rule, max]) => (counts.get(rule) ?? 0) > max)
    .map(
      ([rule, max]) =>
        `${rule}: ${counts.get(rule)}, at most ${max}; see node_modules/.bin/node dev/hack/english.ts`,
    )
  assert.deepEqual(wrong, [])
})
