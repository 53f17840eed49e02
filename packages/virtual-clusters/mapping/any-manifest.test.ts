import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, JsonObject } from '@skerry/api'
import { seededRandom } from '@skerry/base'
import { MappingRefusal } from '@skerry/cluster-agent'
import { createMapping } from './mapping.ts'
import { namespacePaths } from './namespace-paths-table.ts'
import { createNamespaceRule } from './namespace-rule.ts'

const seed = 20_261_122
const random = seededRandom(seed)

function below(bound: number): number {
  return Math.floor(random.next() * bound)
}

function oneOf<T>(values: readonly [T, ...T[]]): T {
  return values[below(values.length)] ?? values[0]
}

/** The mark is recognized anywhere, because no other text of a manifest contains it. */
const mark = 'zzz'
const namespaces = [`${mark}`, `${mark}-a`, `${mark}-a-east`, `${mark}-east`] as const

function namespace(): string {
  return oneOf(namespaces)
}

function service(): string {
  return `db.${namespace()}.svc.cluster.local`
}

/** All of them selectors of namespaces. */
function selector(): JsonObject {
  const key = 'kubernetes.io/metadata.name'
  const operator = oneOf(['In', 'NotIn', 'Exists'])
  const values = operator === 'Exists' ? {} : { values: [namespace(), namespace()] }
  return oneOf<JsonObject>([
    {},
    { matchLabels: { [key]: namespace() } },
    { matchLabels: { team: 'till' }, matchExpressions: [{ key, operator, ...values }] },
  ])
}

/** Names a namespace in every place that the table has for the kind. */
function withNamespaces(paths: readonly string[]): JsonObject {
  const root: JsonObject = {}
  for (const path of paths) put(root, path.split('.'))
  return root
}

function put(object: JsonObject, [step = '', next, ...rest]: readonly string[]): void {
  if (next === undefined) object[step] = namespace()
  else if (next === '*') {
    const list = (object[step] ??= [{}, {}])
    // Only lists precede a star, and this function has filled them.
    for (const each of list as JsonObject[]) put(each, rest)
  } else {
    const member = (object[step] ??= {})
    put(member as JsonObject, [next, ...rest])
  }
}

function podSpec(): JsonObject {
  const term = { topologyKey: 'zone', namespaces: [namespace()], namespaceSelector: selector() }
  return {
    containers: [{ name: 'a', image: 'a' }],
    dnsConfig: { searches: [service(), `${namespace()}.svc.cluster.local`, 'example.com'] },
    affinity: {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }],
      },
    },
    ...(below(4) === 0 ? { nodeSelector: { disk: 'fast' } } : {}),
  }
}

const makers: Readonly<Record<string, () => JsonObject>> = {
  'v1 ConfigMap': () => ({ data: { a: 'b' } }),
  'v1 Pod': () => ({ spec: podSpec() }),
  'v1 Service': () => ({ spec: { externalName: service() } }),
  'v1 PersistentVolumeClaim': () => ({ spec: { dataSourceRef: { namespace: namespace() } } }),
  'apps/v1 StatefulSet': () => ({
    spec: {
      template: { spec: podSpec() },
      volumeClaimTemplates: [{ spec: { dataSourceRef: { namespace: namespace() } } }],
    },
  }),
  'batch/v1 CronJob': () => ({
    spec: { jobTemplate: { spec: { template: { spec: podSpec() } } } },
  }),
  'networking.k8s.io/v1 NetworkPolicy': () => ({
    spec: {
      ingress: [{ from: [{ namespaceSelector: selector() }] }],
      egress: [{ to: [{ namespaceSelector: selector(), podSelector: {} }] }],
    },
  }),
  'rbac.authorization.k8s.io/v1 RoleBinding': () => ({
    subjects: [
      { kind: 'ServiceAccount', namespace: namespace(), name: 'robot' },
      { kind: 'User', name: `system:serviceaccount:${namespace()}:robot` },
      { kind: 'Group', name: `system:serviceaccounts:${namespace()}` },
    ],
  }),
  ...Object.fromEntries(
    Object.entries(namespacePaths).map(([groupKind, paths]) => {
      const [group = '', kind = ''] = groupKind.split('/')
      return [`${group === '' ? 'v1' : `${group}/v1`} ${kind}`, () => withNamespaces(paths)]
    }),
  ),
  'v1 PersistentVolume': () => {
    const { spec } = withNamespaces(namespacePaths['/PersistentVolume'] ?? [])
    const claimRef = { namespace: namespace(), name: 'data' }
    return { spec: { ...(spec as JsonObject), claimRef } }
  },
  'v1 Namespace': () => ({}),
  'v1 Node': () => ({}),
}

const clusterScoped = new Set(['v1 Namespace', 'v1 Node', 'v1 PersistentVolume'])

function manifest(): AnyObject {
  const names = Object.keys(makers)
  const what = names[below(names.length)] ?? ''
  const [apiVersion = '', kind = ''] = what.split(' ')
  const metadata = clusterScoped.has(what)
    ? { name: namespace() }
    : { namespace: namespace(), name: 'web' }
  return { apiVersion, kind, metadata, ...makers[what]?.() }
}

/** Every key and text of an object. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsOf(each)])
}

function groupOf(clusterName: string) {
  return { clusterName, namespaces: createNamespaceRule({ clusterName }) }
}

function keyOf({ apiVersion, kind, metadata }: AnyObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}

test(`no manifest leaves its virtual cluster (seed ${seed})`, () => {
  const clusters = ['east', 'a-east', 'west']
  const groups = clusters.map(groupOf)
  const own = new Map(
    groups.map(({ clusterName, namespaces: rule }) => [
      clusterName,
      new Set(namespaces.map((name) => rule.toMember(name))),
    ]),
  )
  const owners = new Map<string, string>()
  let mapped = 0
  for (let turn = 0; turn < 1_500; turn += 1) {
    const sent = manifest()
    const before = JSON.stringify(sent)
    for (const group of groups) {
      const there = tryToMember(group, sent)
      assert.equal(JSON.stringify(sent), before, 'the sent object is not touched')
      if (there === undefined) continue
      mapped += 1
      assert.deepEqual(tryToMember(group, sent), there, before)
      const owner = owners.get(keyOf(there)) ?? group.clusterName
      assert.equal(owner, group.clusterName, keyOf(there))
      owners.set(keyOf(there), owner)
      assert.deepEqual(foreignNames(there, own.get(group.clusterName) ?? new Set()), [], before)
    }
  }
  assert.ok(mapped > 3_000, `${mapped} of 4500 were mapped`)
})

function tryToMember(group: ReturnType<typeof groupOf>, sent: AnyObject): AnyObject | undefined {
  try {
    // Volumes of every allowed source are mapped.
    return createMapping(group, { allowsHostAccess: true }).toMember(sent)
  } catch (error) {
    assert.ok(error instanceof MappingRefusal, String(error))
    return undefined
  }
}

/** Names of namespaces that this virtual cluster does not have in the edge cluster. */
function foreignNames(there: AnyObject, own: ReadonlySet<string>): string[] {
  const texts = textsOf(withoutOwnLabels(there))
  const words = texts.flatMap((text) => text.split(/[.:]/)).filter((word) => word.includes(mark))
  return words.filter((word) => !own.has(word))
}

/**
 * Removes selectors and labels of a namespace's name in its virtual cluster, which contain that name by
 * definition.
 */
function withoutOwnLabels(object: AnyObject): unknown {
  return JSON.parse(
    JSON.stringify(object, (_key, value: unknown) => {
      if (value === null || typeof value !== 'object') return value
      const { 'edge.skerry.io/namespace': _name, ...rest } = value as JsonObject
      if (rest['key'] === 'edge.skerry.io/namespace') return {}
      return Array.isArray(value) ? value : rest
    }),
  )
}
