/**
 * Writes packages/karmada-kinds/generated/definitions.json from the CRDs of Karmada's module:
 *   node dev/hack/generate-karmada.ts [--out <file>]
 * Only facts are taken over (names, types, defaults, bounds, columns), never upstream's sentences.
 * The same version gives the same bytes.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { isJsonObject, type CustomResourceDefinition } from '@skerry/api'
import { karmadaSource } from './upstream/karmada-build.ts'

/** The kinds that a hub serves; it does not serve the others (quotas, autoscalers, multi-cluster services). */
const served = [
  'ClusterOverridePolicy',
  'ClusterPropagationPolicy',
  'ClusterResourceBinding',
  'ClusterTaintPolicy',
  'OverridePolicy',
  'PropagationPolicy',
  'ResourceBinding',
  'ResourceInterpreterCustomization',
  'ResourceInterpreterWebhookConfiguration',
  'Work',
  'WorkloadRebalancer',
]

const { values } = parseArgs({
  options: {
    out: {
      type: 'string',
      default: join(import.meta.dirname, '../../packages/karmada-kinds/generated/definitions.json'),
    },
  },
})

const bases = join(karmadaSource(), 'charts/karmada/_crds/bases')
const specs = readdirSync(bases, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => specOf(join(bases, file)))
  .filter(({ names }) => served.includes(names.kind))
  .toSorted((a, b) => served.indexOf(a.names.kind) - served.indexOf(b.names.kind))
if (specs.length !== served.length) {
  throw new Error(`Cannot generate definitions: found ${specs.length} of ${served.length}`)
}
mkdirSync(dirname(values.out), { recursive: true })
const text = `[\n${specs.map((spec) => JSON.stringify({ spec })).join(',\n')}\n]\n`
writeFileSync(values.out, text)
console.log(`${values.out}: ${text.length} bytes`)

/** Keeps only the stored version: the others exist for very old objects. */
function specOf(file: string): CustomResourceDefinition['spec'] {
  // The file is a CRD; upstream's own API server checks it.
  const { spec } = parse(readFileSync(file, 'utf8')) as CustomResourceDefinition
  const versions = spec.versions.filter(({ storage }) => storage).map(withoutSentences)
  return { ...spec, versions }
}

/** A description is text; a property that is called so is an object. */
function withoutSentences<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutSentences) as T
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value)
    .filter(([key, member]) => key !== 'description' || typeof member !== 'string')
    .map(([key, member]) => [key, withoutSentences(member)])
  return Object.fromEntries(entries) as T // the same keys but for the sentences
}
