/** Whatever a client of a virtual cluster writes, and however, nothing of others is named at the edge. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonObject, type JsonObject } from '@skerry/api'
import { until } from '@skerry/testing'
import { groupLabel, virtualNamespaceLabels } from '../virtual-group.ts'
import { addNamespace, addNode, startViewScene, type ViewScene } from './testing/view-scene.ts'

interface Reference {
  readonly what: string
  /** Group and version as in a path, and the plural name. */
  readonly of: readonly [api: string, resource: string]
  /** Without and with the reference. */
  readonly plain: JsonObject
  readonly hostile: JsonObject
  /** A value that must not be there. */
  readonly foreign: string
}

const template = (spec: JsonObject): JsonObject => ({
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'a', image: 'a:1' }], ...spec },
    },
  },
})
const claim = (more: JsonObject): JsonObject => ({
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    ...more,
  },
})
const rbac = 'rbac.authorization.k8s.io'
const binding = (subject: JsonObject): JsonObject => ({
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
  subjects: [subject],
})
const peers = (namespaceSelector: JsonObject): JsonObject => ({
  spec: { podSelector: {}, ingress: [{ from: [{ namespaceSelector }] }] },
})
const selects = (name: string) => ({ matchLabels: { 'kubernetes.io/metadata.name': name } })

const references: readonly Reference[] = [
  {
    what: 'volume of a claim',
    of: ['api/v1', 'persistentvolumeclaims'],
    plain: claim({}),
    hostile: claim({ volumeName: 'pvc-west' }),
    foreign: 'pvc-west',
  },
  {
    what: 'namespace of what a claim is filled from',
    of: ['api/v1', 'persistentvolumeclaims'],
    plain: claim({}),
    hostile: claim({
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'a', namespace: 'shop-west' },
    }),
    foreign: 'shop-west',
  },
  {
    what: 'node of a pod',
    of: ['api/v1', 'pods'],
    plain: { spec: { containers: [{ name: 'a', image: 'a:1' }] } },
    hostile: { spec: { containers: [{ name: 'a', image: 'a:1' }], nodeName: 'node-west' } },
    foreign: 'node-west',
  },
  {
    what: 'nodes of a Deployment',
    of: ['apis/apps/v1', 'deployments'],
    plain: template({}),
    hostile: template({ nodeSelector: { [groupLabel]: 'west' } }),
    foreign: 'west',
  },
  {
    what: 'namespaces of pods that pods are near',
    of: ['apis/apps/v1', 'deployments'],
    plain: template({}),
    hostile: template({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'a', labelSelector: {}, namespaces: ['shop-west'] },
          ],
        },
      },
    }),
    foreign: 'shop-west',
  },
  {
    what: 'service account of a binding',
    of: [`apis/${rbac}/v1`, 'rolebindings'],
    plain: binding({ kind: 'ServiceAccount', name: 'a', namespace: 'shop' }),
    hostile: binding({ kind: 'ServiceAccount', name: 'a', namespace: 'shop-west' }),
    foreign: 'shop-west',
  },
  {
    what: 'user name of a service account',
    of: [`apis/${rbac}/v1`, 'rolebindings'],
    plain: binding({ apiGroup: rbac, kind: 'User', name: 'a' }),
    hostile: binding({
      apiGroup: rbac,
      kind: 'User',
      name: 'system:serviceaccount:shop-west:a',
    }),
    foreign: 'system:serviceaccount:shop-west:a',
  },
  {
    what: 'group of service accounts',
    of: [`apis/${rbac}/v1`, 'rolebindings'],
    plain: binding({ apiGroup: rbac, kind: 'Group', name: 'a' }),
    hostile: binding({ apiGroup: rbac, kind: 'Group', name: 'system:serviceaccounts:shop-west' }),
    foreign: 'system:serviceaccounts:shop-west',
  },
  {
    what: 'namespace of a peer',
    of: ['apis/networking.k8s.io/v1', 'networkpolicies'],
    plain: peers(selects('shop')),
    hostile: peers({ matchLabels: { [virtualNamespaceLabels.cluster]: 'west' } }),
    foreign: 'west',
  },
]

type Write = (scene: ViewScene, reference: Reference, name: string) => Promise<unknown>

const pathOf = ({ of: [api, resource] }: Reference, name = '') =>
  `/${api}/namespaces/shop/${resource}${name === '' ? '' : `/${name}`}`
const object = (content: JsonObject, name: string) => ({ metadata: { name }, ...content })

function make(scene: ViewScene, reference: Reference, name: string) {
  return scene.ask('east', pathOf(reference), {
    method: 'POST',
    body: object(reference.plain, name),
  })
}

function patched(type: string, bodyOf: (reference: Reference) => unknown): Write {
  return async (scene, reference, name) => {
    const made = await make(scene, reference, name)
    assert.equal(made.status, 201, made.text)
    const headers = { 'content-type': `application/${type}` }
    const body = bodyOf(reference)
    return scene.ask('east', pathOf(reference, name), { method: 'PATCH', body, headers })
  }
}

function applied({ of: [api], hostile }: Reference, name: string) {
  const kinds: Readonly<Record<string, string>> = {
    persistentvolumeclaims: 'PersistentVolumeClaim',
    pods: 'Pod',
    deployments: 'Deployment',
    rolebindings: 'RoleBinding',
    networkpolicies: 'NetworkPolicy',
  }
  return (resource: string) => ({
    apiVersion: api.replace(/^apis?\//, ''),
    kind: kinds[resource],
    ...object(hostile, name),
  })
}

const apply: Write = async (scene, reference, name) =>
  scene.ask('east', `${pathOf(reference, name)}?fieldManager=a&force=true`, {
    method: 'PATCH',
    body: applied(reference, name)(reference.of[1]),
    headers: { 'content-type': 'application/apply-patch+yaml' },
  })

const writes: Readonly<Record<string, Write>> = {
  create: async (scene, reference, name) =>
    scene.ask('east', pathOf(reference), {
      method: 'POST',
      body: object(reference.hostile, name),
    }),
  put: async (scene, reference, name) => {
    await make(scene, reference, name)
    const { body } = await scene.ask('east', pathOf(reference, name))
    const metadata: unknown = body['metadata']
    const changed = { ...body, ...reference.hostile, metadata }
    return scene.ask('east', pathOf(reference, name), { method: 'PUT', body: changed })
  },
  'put of what is not there': async (scene, reference, name) =>
    scene.ask('east', pathOf(reference, name), {
      method: 'PUT',
      body: object(reference.hostile, name),
    }),
  apply,
  'apply to what is there': async (scene, reference, name) => {
    await make(scene, reference, name)
    return apply(scene, reference, name)
  },
  merge: patched('merge-patch+json', ({ hostile }) => hostile),
  strategic: patched('strategic-merge-patch+json', ({ hostile }) => hostile),
  json: patched('json-patch+json', ({ hostile }) =>
    Object.entries(hostile).map(([field, value]) => ({ op: 'add', path: `/${field}`, value })),
  ),
}

function names(value: unknown, text: string): boolean {
  if (Array.isArray(value)) return value.some((each) => names(each, text))
  if (isJsonObject(value)) return Object.values(value).some((each) => names(each, text))
  return value === text
}

test('no reference that is written by any verb names anything outside of the virtual cluster', async () => {
  await using scene = await startViewScene()
  await addNamespace(scene, 'east', 'shop')
  await addNamespace(scene, 'west', 'shop')
  await scene.ask('east', '/api/v1/namespaces/shop/serviceaccounts', {
    method: 'POST',
    body: { metadata: { name: 'default' } },
  })
  for (const [at, reference] of references.entries()) {
    for (const [index, [verb, write]] of Object.entries(writes).entries()) {
      const name = `a${at}-${index}`
      await write(scene, reference, name)
      const [api, resource] = reference.of
      const group = api.startsWith('apis/') ? (api.split('/')[1] ?? '') : ''
      const found = scene.edge.objects.get({ group, resource }, 'shop-east', name)
      const { metadata: _metadata, ...content } = found ?? { metadata: {} }
      assert.ok(!names(content, reference.foreign), `${reference.what}, by ${verb}`)
    }
  }
})

test('a node of a virtual cluster may be cordoned, and nothing else of it changes, by any verb', async () => {
  await using scene = await startViewScene()
  await addNode(scene, 'node-east', 'east')
  const path = '/api/v1/nodes/node-east'
  await until(async () => (await scene.ask('east', path)).status === 200)
  const stored = () => {
    const found = scene.edge.objects.get({ group: '', resource: 'nodes' }, '', 'node-east')
    assert.ok(found)
    const { metadata, ...rest } = found
    const {
      resourceVersion: _,
      managedFields: _fields,
      generation: _generation,
      ...kept
    } = metadata
    return JSON.stringify({ metadata: kept, ...rest })
  }
  const before = stored()
  const changes: readonly JsonObject[] = [
    { metadata: { labels: { [groupLabel]: 'west' } } },
    { metadata: { labels: { [groupLabel]: null } } },
    { metadata: { labels: { 'apps.kubeedge.io/belonging-to': 'west' } } },
    { metadata: { labels: { zone: 'west' } } },
    { metadata: { annotations: { a: 'b' } } },
    { metadata: { finalizers: ['example.com/a'] } },
    { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } },
    { spec: { podCIDR: '10.9.0.0/24', providerID: 'west' } },
    { spec: { unschedulable: true }, metadata: { labels: { zone: 'west' } } },
  ]
  const patch = (body: unknown, type: string, at = path) =>
    scene.ask('east', at, {
      method: 'PATCH',
      body,
      headers: { 'content-type': `application/${type}` },
    })
  const named = { apiVersion: 'v1', kind: 'Node' }
  for (const change of changes) {
    const shown = JSON.stringify(change)
    const { body: read } = await scene.ask('east', path)
    const metadata = { ...Object(read['metadata']), ...Object(change['metadata']) }
    const spec = { ...Object(read['spec']), ...Object(change['spec']) }
    const put = await scene.ask('east', path, { method: 'PUT', body: { ...read, metadata, spec } })
    const answers = [
      put,
      await patch(change, 'merge-patch+json'),
      await patch(change, 'strategic-merge-patch+json'),
      await patch(change, 'strategic-merge-patch+json', `${path}/status`),
      await patch(
        Object.entries({ metadata, spec }).map(([field, value]) => ({
          op: 'replace',
          path: `/${field}`,
          value,
        })),
        'json-patch+json',
      ),
      await patch(
        { ...named, ...change, metadata: { name: 'node-east', ...Object(change['metadata']) } },
        'apply-patch+yaml',
        `${path}?fieldManager=a&force=true`,
      ),
    ]
    for (const [index, answer] of answers.entries()) {
      // An applied null says nothing of a label.
      assert.ok(answer.status >= 400 || stored() === before, `${shown}, ${index}: ${answer.text}`)
    }
    assert.equal(stored(), before, shown)
  }
  const gone = await scene.ask('east', path, { method: 'DELETE' })
  assert.ok(gone.status >= 400, gone.text)
  const cordons = [
    await patch({ spec: { unschedulable: true } }, 'strategic-merge-patch+json'),
    await patch({ spec: { unschedulable: null } }, 'merge-patch+json'),
    await patch(
      { ...named, metadata: { name: 'node-east' }, spec: { unschedulable: true } },
      'apply-patch+yaml',
      `${path}?fieldManager=a&force=true`,
    ),
  ]
  assert.deepEqual(
    cordons.map(({ status, body }) => [status, body['spec']?.['unschedulable']]),
    [
      [200, true],
      [200, undefined],
      [200, true],
    ],
  )
})
