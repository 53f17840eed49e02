/**
 * Writes packages/api/generated/ (types) and packages/kinds/generated/ (schemas, kinds) from the Kubernetes module of
 * the Go toolchain:
 *   node dev/hack/generate-api/generate.ts [--version v1.36.3] [--out <directory of both packages>]
 * Only facts are taken over (names, types, defaults, merge keys), never upstream's sentences.
 * The same version gives the same bytes.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Schema } from '@skerry/api'
import { compactDefinition, isListDefinition } from './compact-schema.ts'
import { readEnums, withEnums } from './enum-facts.ts'
import { withFieldOrder } from './field-order.ts'
import { readGoStructs, type GoModuleDirs } from './go-structs.ts'
import { withGoTypes } from './go-types.ts'
import { kindFacts, type KindFacts } from './kind-facts.ts'
import { typeText } from './type-text.ts'
import { findModule, readUpstream, type UpstreamFacts } from './upstream.ts'
import { withZeroFields } from './zero-fields.ts'

const { values } = parseArgs({
  options: {
    version: { type: 'string', default: 'v1.36.3' },
    out: { type: 'string', default: join(import.meta.dirname, '../../../packages') },
  },
})

const moduleDir = findModule(values.version)
const facts = readUpstream(moduleDir)
const enums = readEnums(moduleDir)
const structs = readGoStructs(typeModules(values.version))
const kinds = kindFacts(values.version, facts)
const stable = definitionsOf(facts, (version) => !version.includes('beta'))
const all = definitionsOf(facts, () => true)
const beta = Object.fromEntries(Object.entries(all).filter(([name]) => !(name in stable)))

write('kinds/generated/schema.json', linePerEntry(stable))
write('kinds/generated/schema-beta.json', linePerEntry(beta))
write('kinds/generated/kinds.json', kindsText(kinds))
write('api/generated/types.ts', typeText(all, kinds.kinds))

/** The modules that Kubernetes v1.x is made of are v0.x. */
function typeModules(version: string): GoModuleDirs {
  const dir = (name: string) => findModule(version.replace(/^v1/, 'v0'), `k8s.io/${name}`)
  return {
    api: dir('api'),
    apimachinery: dir('apimachinery'),
    apiextensions: dir('apiextensions-apiserver'),
    aggregator: dir('kube-aggregator'),
  }
}

function definitionsOf(upstream: UpstreamFacts, isWanted: (version: string) => boolean) {
  const definitions: Record<string, Schema> = {}
  for (const document of upstream.documents) {
    if (!isWanted(document.version)) continue
    for (const [name, raw] of Object.entries(document.schemas)) {
      if (!isListDefinition(raw)) {
        const schema = withEnums(name, compactDefinition(name, raw), enums)
        const typed = withGoTypes(name, withZeroFields(name, schema, structs), structs)
        definitions[name] = withFieldOrder(name, typed, structs)
      }
    }
  }
  const names = Object.keys(definitions).toSorted()
  return Object.fromEntries(names.map((name) => [name, definitions[name] ?? {}]))
}

/** Writes one line per definition, so that the file is small and a diff between versions is readable. */
function linePerEntry(record: Record<string, unknown>): string {
  const lines = Object.entries(record).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
  )
  return `{\n${lines.join(',\n')}\n}\n`
}

function kindsText({ upstreamVersion, groups, kinds: list }: KindFacts): string {
  const lines = (entries: readonly unknown[]) =>
    `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]`
  const version = JSON.stringify(upstreamVersion)
  return `{"upstreamVersion":${version},\n"groups":${lines(groups)},\n"kinds":${lines(list)}}\n`
}

function write(name: string, text: string): void {
  const file = join(values.out, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  console.log(`${name}: ${text.length} bytes`)
}
