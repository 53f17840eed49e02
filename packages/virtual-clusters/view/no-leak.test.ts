import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import type { Kind } from '@skerry/api'
import { silentLogger, systemClock } from '@skerry/base'
import { fixedCredentials, readBody, readLines } from '@skerry/client'
import { createApiForwarder } from '@skerry/cluster-agent'
import { groupLabel } from '@skerry/fleet-kinds'
import { seenAsOf } from './seen-kinds-table.ts'
import { addNamespace, startViewScene, type ViewScene } from './testing/view-scene.ts'
import { towardsVirtual } from './virtual-request.ts'

/** Occurs in the name of each object of the other virtual cluster, and in nothing that this one may see. */
const mark = 'sentinel'
const accepts = {
  object: 'application/json',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  metadata: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
}

/** Writes directly into the store, so that there is one object of every kind, whatever the kind requires. */
async function addOfKind({ edge }: ViewScene, kind: Kind, namespace: string): Promise<void> {
  const { group, storageVersion: version, resource } = kind
  const metadata = {
    name: mark,
    ...(kind.isNamespaced ? { namespace } : {}),
    uid: crypto.randomUUID(),
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { [groupLabel]: 'west' },
  }
  const object = {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind: kind.kind,
    metadata,
    spec: { claimRef: { namespace, name: mark } },
    status: {},
    involvedObject: { kind: 'Pod', namespace, name: mark },
  }
  const place = `${group || 'core'}/${resource}/${kind.isNamespaced ? `${namespace}/` : ''}${mark}`
  const value = Buffer.from(JSON.stringify(object))
  await edge.store.write({ key: `/registry/${place}`, value })
}

/** Excludes kinds that every virtual cluster sees, that are not stored, or that decide what the server does. */
function isOwn(kind: Kind): boolean {
  const { group, resource, isNamespaced, verbs, storageGroup } = kind
  if (!verbs.includes('list') || storageGroup !== undefined) return false
  if (
    /^(?:componentstatuses|namespaces)$/.test(resource) ||
    group === 'admissionregistration.k8s.io'
  )
    return false
  return isNamespaced || !['shared', 'review'].includes(seenAsOf(kind))
}

function pathOf({ group, version, resource }: Kind, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${resource}`
}

async function initialEvents(scene: ViewScene, path: string, accept: string): Promise<string> {
  const query =
    'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(20_000)])
  const { body } = await scene.open('east', `${path}?${query}`, { headers: { accept } }, signal)
  const lines: string[] = []
  try {
    for await (const line of readLines(body)) {
      lines.push(line)
      if (line.includes('"BOOKMARK"') || line.includes('"Failure"')) break
    }
  } catch (error) {
    // The edge makes no Table row of an object that is not whole, and closes the stream.
    if (accept !== accepts.table) throw error
  }
  stop.abort()
  return lines.join('\n')
}

test('a virtual cluster sees no object of another one, of any kind and by any way of asking', async () => {
  await using scene = await startViewScene()
  await addNamespace(scene, 'east', 'shop')
  const foreign = await addNamespace(scene, 'west', 'shop')
  const kinds = (await builtinKinds()).filter(isOwn)
  assert.ok(kinds.length > 40, `${kinds.length} kinds`)
  const added = new Set<string>()
  for (const kind of kinds) {
    const place = `${kind.group}/${kind.resource}`
    if (!added.has(place)) await addOfKind(scene, kind, foreign)
    added.add(place)
  }
  for (const kind of kinds) {
    const all = pathOf(kind)
    const seenByEdge = await scene.local.raw(
      { method: 'GET', path: all, headers: {} },
      AbortSignal.timeout(20_000),
    )
    let told = ''
    for await (const chunk of seenByEdge.body) told += Buffer.from(chunk).toString()
    assert.match(told, new RegExp(mark), `the edge has one of ${kind.kind}`)

    for (const accept of Object.values(accepts)) {
      const { text, status } = await scene.ask('east', all, { headers: { accept } })
      if (accept === accepts.object) assert.equal(status, 200, `${all}: ${text}`)
      assert.doesNotMatch(text, /sentinel|west/, all)
    }
    for (const accept of [accepts.object, accepts.table]) {
      assert.doesNotMatch(await initialEvents(scene, all, accept), /sentinel|west/, all)
    }
    for (const path of [
      `${all}/${mark}`,
      `${pathOf(kind, 'shop')}/${mark}`,
      `${pathOf(kind, foreign)}/${mark}`,
      pathOf(kind, foreign),
    ]) {
      const { status, text } = await scene.ask('east', path)
      assert.ok(status >= 400 || !text.includes(mark), `${path}: ${text}`)
      if (path === `${pathOf(kind, 'shop')}/${mark}`) continue
      for (const method of ['DELETE', 'PUT', 'PATCH']) {
        const body = { metadata: { name: mark, labels: { changed: 'yes' } } }
        const headers = { 'content-type': 'application/merge-patch+json' }
        const sent = method === 'DELETE' ? {} : { body, ...(method === 'PATCH' ? { headers } : {}) }
        await scene.ask('east', path, { method, ...sent })
      }
    }
  }
  const { entries } = await scene.edge.store.list({ prefix: '/registry/' })
  const left = entries.filter(({ key }) => key.endsWith(`/${mark}`))
  assert.equal(left.length, added.size)
  for (const { key, value, createRevision, modRevision } of left) {
    assert.equal(
      modRevision,
      createRevision,
      `${key} is as it was: ${Buffer.from(value).toString()}`,
    )
  }
})

test('a path that could be read in two ways, or leads out of the virtual cluster, is refused', async () => {
  await using scene = await startViewScene()
  await addNamespace(scene, 'east', 'shop')
  const foreign = await addNamespace(scene, 'west', 'shop')
  await scene.edge.objects.create(
    { group: '', resource: 'configmaps' },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: foreign, name: mark, labels: { [mark]: mark } },
    },
  )
  for (const path of [
    `/api/v1/namespaces/..%2f${foreign}/configmaps`,
    `/api/v1/namespaces/shop/../${foreign}/configmaps`,
    `/api/v1/namespaces/shop/%2e%2e/${foreign}/configmaps`,
    `/api/v1/namespaces//${foreign}/configmaps`,
    `//api/v1/namespaces/${foreign}/configmaps`,
    `/api/v1//namespaces/${foreign}/configmaps`,
    `/api/v1/namespaces/shop%2f..%2f${foreign}/configmaps`,
    `/api/v1/namespaces/${foreign}/configmaps/${mark}`,
    `/api/v1/namespaces/%73hop-west/configmaps/${mark}`,
    `/api/v1/namespaces/shop-west/configmaps`,
    `/api/v1/namespaces/SHOP-WEST/configmaps`,
    `/api/v1/namespaces/shop;${foreign}/configmaps`,
    `/api/v1/watch/namespaces/${foreign}/configmaps`,
    `/api/v1/watch/configmaps`,
    `/api/v1/proxy/namespaces/${foreign}/services/x`,
    `/api/v1/configmaps?fieldSelector=metadata.namespace%3D${foreign}`,
    `/api/v1/configmaps?watch=false&labelSelector=${mark}`,
    `/api/v1/namespaces/shop/configmaps?namespace=${foreign}`,
    `/api/v1/namespaces?labelSelector=edge.skerry.io/virtual-cluster%3Dwest`,
    `/api/v1/nodes?labelSelector=${encodeURIComponent(groupLabel)}%3Dwest`,
    `/api/v1/nodes/n/proxy/pods`,
    `/metrics`,
    `/logs/`,
    `/debug/pprof/`,
    `/clusters/west/api/v1/configmaps`,
  ]) {
    const { text } = await scene.ask('east', path)
    assert.ok(!text.includes(mark) || text.includes('"Failure"'), `${path}: ${text}`)
    assert.doesNotMatch(text, /"till|"kind":"ConfigMap"|apiserver_request/, path)
  }
  const unknown = scene.ask('east', '/api/v1/persistentvolumes/none')
  assert.equal((await unknown).body['message'], 'persistentvolumes "none" not found')
  const who = { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' }
  const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1' }
  for (const path of [
    `/api/v1/namespaces/${foreign}/pods/p/exec?command=sh`,
    `/api/v1/nodes/n/proxy/exec`,
    `/api/v1/namespaces/shop/pods?watch=1`,
    `/api/v1/namespaces/shop/pods/none/exec?command=sh`,
  ]) {
    const request = { method: 'GET', path, headers: { ...who, ...upgrade } }
    const answer = await scene.handler.onUpgrade(
      towardsVirtual(request, 'east'),
      AbortSignal.timeout(20_000),
    )
    const isOwn = path.includes('/none/')
    assert.ok(isOwn ? answer.status === 404 : answer.status >= 400, `${path} ${answer.status}`)
  }
})

test('an agent answers for its own virtual clusters, and for nobody if it knows of none', async () => {
  await using scene = await startViewScene()
  const other = await scene.ask('north', '/api/v1/namespaces')
  assert.equal(other.status, 503)
  assert.match(other.text, /has no group of nodes of that name/)

  const { ca, cert, key } = scene.edge.credentials
  const credentials = fixedCredentials({ certificate: cert, key })
  const api = { server: scene.edge.url, certificateAuthority: ca, credentials }
  using whole = createApiForwarder({ api }, { clock: systemClock, log: silentLogger })
  const headers = { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' }
  const request = { method: 'GET', path: '/api/v1/namespaces', headers }
  const signal = AbortSignal.timeout(20_000)
  const refused = await whole.onRequest(towardsVirtual(request, 'east'), signal)
  assert.equal(refused.status, 403)
  assert.match((await readBody(refused.body)).toString(), /names no user to impersonate/)
})
