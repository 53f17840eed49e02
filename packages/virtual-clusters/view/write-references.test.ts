/**
 * Whatever a client of a virtual cluster writes, and however, no other cluster's objects are named at the
 * edge.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '@skerry/api'
import { until } from '@skerry/testing'
import { MappingRefusal } from '@skerry/cluster-agent'
import { groupLabel } from '@skerry/fleet-kinds'
import { createMapping } from '../mapping/mapping.ts'
import { createNamespaceRule } from '../mapping/namespace-rule.ts'
import { podTemplatePaths } from '../mapping/pod-spec.ts'
import {
  foreignIn,
  hostileManifests,
  referringKinds,
  type HostileManifest,
} from './testing/hostile-manifests.ts'
import { addNamespace, addNode, startViewScene, type ViewScene } from './testing/view-scene.ts'

/** Kinds of extension APIs that an edge may have. */
const gatewayApi = 'gateway.networking.k8s.io'

type Write = (scene: ViewScene, sent: HostileManifest, name: string) => Promise<unknown>

function pathOf({ of: { apiVersion, resource } }: HostileManifest, name = ''): string {
  const api = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`
  return `/${api}/namespaces/shop/${resource}${name === '' ? '' : `/${name}`}`
}

function object({ of: { apiVersion, groupKind } }: HostileManifest, name: string) {
  const kind = groupKind.slice(groupKind.indexOf('/') + 1)
  return { apiVersion, kind, metadata: { name } }
}

async function make(scene: ViewScene, sent: HostileManifest, name: string): Promise<void> {
  const body = { ...object(sent, name), ...sent.plain }
  const made = await scene.ask('east', pathOf(sent), { method: 'POST', body })
  assert.equal(made.status, 201, `${sent.what}: ${made.text}`)
}

function patched(type: string, bodyOf: (sent: HostileManifest, name: string) => unknown): Write {
  const headers = { 'content-type': `application/${type}` }
  return async (scene, sent, name) => {
    await make(scene, sent, name)
    const query = type.startsWith('apply') ? '?fieldManager=a&force=true' : ''
    const path = `${pathOf(sent, name)}${query}`
    return scene.ask('east', path, { method: 'PATCH', body: bodyOf(sent, name), headers })
  }
}

const whole = (sent: HostileManifest, name: string) => ({ ...object(sent, name), ...sent.hostile })

const writes: Readonly<Record<string, Write>> = {
  create: async (scene, sent, name) =>
    scene.ask('east', pathOf(sent), { method: 'POST', body: whole(sent, name) }),
  put: async (scene, sent, name) => {
    await make(scene, sent, name)
    const { body } = await scene.ask('east', pathOf(sent, name))
    const metadata: unknown = body['metadata']
    const changed = { ...body, ...sent.hostile, metadata }
    return scene.ask('east', pathOf(sent, name), { method: 'PUT', body: changed })
  },
  'put of a missing object': async (scene, sent, name) =>
    scene.ask('east', pathOf(sent, name), { method: 'PUT', body: whole(sent, name) }),
  apply: async (scene, sent, name) =>
    scene.ask('east', `${pathOf(sent, name)}?fieldManager=a&force=true`, {
      method: 'PATCH',
      body: whole(sent, name),
      headers: { 'content-type': 'application/apply-patch+yaml' },
    }),
  'apply to an existing object': patched('apply-patch+yaml', whole),
  merge: patched('merge-patch+json', ({ hostile }) => hostile),
  strategic: patched('strategic-merge-patch+json', ({ hostile }) => hostile),
  json: patched('json-patch+json', ({ hostile }) =>
    Object.entries(hostile).map(([field, value]) => ({ op: 'add', path: `/${field}`, value })),
  ),
}

/** The kinds of the Gateway API, which take any content. */
async function addGatewayKinds({ edge, local }: ViewScene): Promise<void> {
  const kinds = referringKinds.filter((each) => each.startsWith(`${gatewayApi}/`))
  for (const groupKind of kinds) {
    const kind = groupKind.slice(gatewayApi.length + 1)
    const plural = `${kind.toLowerCase()}s`
    await edge.objects.create(
      { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: {
          name: `${plural}.${gatewayApi}`,
          annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' },
        },
        spec: {
          group: gatewayApi,
          scope: 'Namespaced',
          names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: {
                openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          ],
        },
      },
    )
  }
  await until(async () => {
    const { resources } = await local.discover(AbortSignal.timeout(20_000))
    return resources.filter(({ group }) => group === gatewayApi).length >= kinds.length
  })
}

/** One scene per workload kind would repeat the test: one rule refuses all pods. */
function isWrittenByView({ isRefused, of }: HostileManifest): boolean {
  return !isRefused || !(of.groupKind in podTemplatePaths) || of.groupKind === 'apps/Deployment'
}

/** The core API takes events about their own namespace alone. */
const refusedByTheEdge: ReadonlySet<string> = new Set(['/Event'])

test('no reference that is written by any verb names anything outside of the virtual cluster', async () => {
  await using scene = await startViewScene()
  await addGatewayKinds(scene)
  await addNamespace(scene, 'east', 'shop')
  await addNamespace(scene, 'west', 'shop')
  await scene.ask('east', '/api/v1/namespaces/shop/serviceaccounts', {
    method: 'POST',
    body: { metadata: { name: 'default' } },
  })
  for (const [at, sent] of hostileManifests().filter(isWrittenByView).entries()) {
    const { groupKind, apiVersion, resource } = sent.of
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
    const attempts = Object.entries(writes).map(async ([verb, write], index) => {
      const name = `a${at}-${index}`
      await write(scene, sent, name)
      const found = scene.edge.objects.get({ group, resource }, 'shop-east', name)
      const { metadata: _metadata, ...content } = found ?? { metadata: {} }
      assert.deepEqual(foreignIn(content), [], `${sent.what}, by ${verb}`)
      // The mapped object exists, so nothing else kept it out.
      const isThere = !sent.isRefused && !refusedByTheEdge.has(groupKind)
      if (verb === 'create') assert.equal(found !== undefined, isThere, sent.what)
    })
    await Promise.all(attempts)
  }
})

test('no reference of a manifest in a Work names anything outside of the virtual cluster', () => {
  const east = { clusterName: 'east', namespaces: createNamespaceRule({ clusterName: 'east' }) }
  const { toMember } = createMapping(east)
  for (const sent of hostileManifests()) {
    const manifest = { ...whole(sent, 'a'), metadata: { name: 'a', namespace: 'shop' } }
    assert.notDeepEqual(foreignIn(manifest), [], `${sent.what}: it is hostile`)
    if (sent.isRefused) assert.throws(() => toMember(manifest), MappingRefusal, sent.what)
    else assert.deepEqual(foreignIn(toMember(manifest)), [], sent.what)
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
      // An applied null does not set a label.
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
