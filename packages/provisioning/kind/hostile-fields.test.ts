import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Schema } from '@skerry/api'
import { hostileTexts } from '../testing/hostile-texts.ts'
import { edgeClusterCauses } from './edge-cluster-checks.ts'
import { edgeClusterKind } from './edge-cluster-kind.ts'
import type { EdgeCluster } from './edge-cluster.ts'

const { schemas, schemaName } = edgeClusterKind([])
const local = 'io.k8s.api.core.v1.LocalObjectReference'

type Path = readonly (string | number)[]

/** Returns the path of every text of the spec, one of each list. */
function textsOf({ ref, ...schema }: Schema, path: Path = []): Path[] {
  if (ref === local) return [[...path, 'name']]
  const {
    type,
    properties = {},
    items,
    additionalProperties,
  } = ref === undefined ? schema : (schemas[ref] ?? {})
  if (type === 'string') return [path]
  if (items !== undefined) return textsOf(items, [...path, 0])
  if (typeof additionalProperties === 'object') return textsOf(additionalProperties, [...path, 'a'])
  return Object.entries(properties).flatMap(([name, each]) => textsOf(each, [...path, name]))
}

function fieldText(path: Path): string {
  return path.map((each) => (typeof each === 'number' ? `[${each}]` : `.${each}`)).join('')
}

/** An object with this text in one field, and with what that field needs around it. */
function edgeWith(path: Path, text: string): EdgeCluster {
  const isImport = path[0] === 'import'
  const jump = { address: '10.0.0.2', credentials: { name: 'ssh' } }
  const block = { addresses: ['10.0.0.11'], role: 'Master', credentials: { name: 'ssh' } }
  const spec: Record<string, unknown> = {
    machines: isImport ? [] : [path.includes('jump') ? { ...block, jump } : block],
    ...(path.join('.') === 'highAvailability.address' && {
      highAvailability: { type: 'Balancer' },
    }),
    ...(path[0] === 'files' && { files: [{ from: { configMap: 'a', key: 'a' }, path: '/a' }] }),
    ...(path[0] === 'hooks' && { hooks: [{ when: 'AfterInstall', configMap: 'a', key: 'a' }] }),
    ...(path[0] === 'addons' && { addons: [{ configMap: 'a', key: 'a' }] }),
    ...(path[0] === 'registries' && { registries: [{ host: 'a', endpoints: ['https://a'] }] }),
    ...(path[0] === 'proxy' && { proxy: { httpProxy: 'http://a' } }),
    ...(path[0] === 'package' && { package: { digest: '', publicKey: '' } }),
  }
  if (path.join('.') === 'files.0.from.secret') spec['files'] = [{ from: { key: 'a' }, path: '/a' }]
  setAt(spec, path, text)
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'branch-7', namespace: 'shops' },
    // The schema has the same fields.
    spec: spec as unknown as EdgeCluster['spec'],
  }
}

function setAt(into: Record<string | number, unknown>, path: Path, value: unknown): void {
  const [name = '', ...rest] = path
  if (rest.length === 0) {
    into[name] = value
    return
  }
  into[name] ??= typeof rest[0] === 'number' ? [] : {}
  // Containers are records and lists only.
  setAt(into[name] as Record<string | number, unknown>, rest, value)
}

/** Texts for people. */
const free = new Set(['.displayName'])

/** Texts that a field takes: each is a name that is only looked up or compared. */
const taken: Readonly<Record<string, readonly string[]>> = {
  '.addons[0].key': ['--help'],
  '.files[0].from.key': ['--help'],
  '.hooks[0].key': ['--help'],
  '.registries[0].host': ['*'],
}

const paths = textsOf({ ref: `${schemaName}Spec` })

test('the schema has every text of the spec', () => {
  const fields = paths.map(fieldText)
  assert.ok(fields.length > 40, fields.join(' '))
  for (const field of ['.machines[0].addresses[0]', '.machines[0].labels.a', '.files[0].path']) {
    assert.ok(fields.includes(field), field)
  }
})

for (const path of paths.filter((each) => !free.has(fieldText(each)))) {
  const field = `spec${fieldText(path)}`
  test(`${field} takes no hostile text, and the error names it`, () => {
    for (const text of hostileTexts) {
      if (taken[fieldText(path)]?.includes(text) === true) continue
      const causes = edgeClusterCauses(edgeWith(path, text))
      const named = causes.some((cause) => {
        const told = cause.field ?? ''
        return told !== '' && told !== 'spec' && (field.startsWith(told) || told.startsWith(field))
      })
      assert.ok(
        named,
        `${JSON.stringify(text).slice(0, 60)}: ${JSON.stringify(causes).slice(0, 300)}`,
      )
    }
  })
}

/** Returns every path that a path begins with and that ends at a part with fields. */
function partsOf(path: Path): Path[] {
  return path.flatMap((name, at) => (typeof name === 'string' ? [path.slice(0, at)] : [])).slice(1)
}

const parts = new Map(paths.flatMap(partsOf).map((path) => [fieldText(path), path]))

for (const [field, path] of parts) {
  test(`spec${field} without any field is judged, not stumbled over`, () => {
    const edge = edgeWith(path, '')
    // Its fields are only walked through.
    setAt(edge.spec as unknown as Record<string, unknown>, path, {})
    assert.ok(Array.isArray(edgeClusterCauses(edge)))
  })
}
