import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { spkiHash } from '@skerry/pki'
import { openTestBrowser } from '../../testing/scenes/test-browser.ts'
import { auditedLines, untilAudited } from '../../testing/scenes/audited-lines.ts'
import {
  registerCluster,
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const olga = { commonName: 'olga', organizations: ['system:masters'] }
const path = '/hub/v1/clusters/shop-7/node-join-command'

let fleet: TestHub
let stack: AsyncDisposableStack
let site: ClusterClient

before(async () => {
  stack = new AsyncDisposableStack()
  fleet = stack.use(await startTestHub())
  const edge = stack.use(await startTestEdge())
  site = createCluster(edge.transport, { clock: systemClock, log: silentLogger, userAgent: 'test' })
  await registerCluster(fleet, 'shop-7')
  const agent = stack.use(await startTestAgent(fleet, { name: 'shop-7', api: edge.api }))
  await agent.connected()
})
after(() => stack[Symbol.asyncDispose]())

/** Makes the objects that a site has from its first start. */
async function publishSite(): Promise<void> {
  const maps = site.resource(resources.configMaps)
  const map = (name: string, data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-system', name },
    data,
  })
  const info = {
    name: 'shop-7',
    podCIDR: '10.8.0.0/20',
    serviceCIDR: '10.43.0.0/16',
    dnsDomain: 'cluster.local',
    nodeMaskSize: '24',
  }
  await maps.create(map('skerry-site', info), soon())
  await maps.create(map('kube-root-ca.crt', { 'ca.crt': fleet.caPem }), soon())
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { namespace: 'default', name: 'kubernetes' },
    subsets: [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 6443 }] }],
  }
  await site.resource(resources.endpoints).create(endpoints, soon())
}

async function tokens(): Promise<number> {
  const key = { namespace: 'kube-system' }
  const { items } = await site.resource(resources.secrets).list(key, soon())
  return items.filter(({ type }) => type === 'bootstrap.kubernetes.io/token').length
}

test('a line for nodes is made with the rights of its asker at the site, and is in the audit log', async () => {
  const browser = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const ask = (json: unknown) => browser.ask({ method: 'POST', path, json })
  const foreign = await ask({})
  assert.equal(foreign.status, 409, foreign.text)
  assert.match(foreign.text, /does not publish the facts of a site/)
  assert.equal(await tokens(), 0)
  await publishSite()
  const made = await ask({ labels: { rack: 'a-1', 'example.com/zone': 'b' }, ttlSeconds: 600 })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers['cache-control'], 'no-store')
  const { command, expiresAt, caHash } = made.body
  assert.equal(caHash, spkiHash(fleet.caPem))
  const leftMs = Date.parse(String(expiresAt)) - Date.now()
  assert.ok(leftMs > 500_000 && leftMs <= 600_000)
  const [, token = ''] = /echo (\S+) >/.exec(String(command)) ?? []
  assert.match(token, /^[a-z0-9]{6}\.[a-z0-9]{16}$/)
  assert.equal(
    command,
    `(umask 077 && echo ${token} > token) && skerry node --server https://192.0.2.7:6443 --token-file token --ca-hash ${String(caHash)} --cluster-cidr 10.8.0.0/20 --label rack=a-1 --label example.com/zone=b`,
  )
  assert.equal(await tokens(), 1)
  const bare = await ask({ machine: true })
  assert.equal(bare.status, 409, 'a site that does not give its program away gets no token')
  assert.match(String(bare.body.message), /does not give its program away/)
  assert.equal(await tokens(), 1)
  const uri = '/clusters/shop-7/api/v1/namespaces/kube-system/secrets'
  const isSecret = (line: { readonly uri: string; readonly method: string }): boolean =>
    line.uri === uri && line.method === 'POST'
  const [line] = await untilAudited(fleet, { count: 1, isWanted: isSecret }, soon())
  assert.equal(line?.user, 'olga')
  assert.ok(!(await auditedLines(fleet)).some((each) => each.includes(token)))
})

test('a user without rights gets no line, and cannot tell which clusters exist', async () => {
  const before = await tokens()
  const rita = openTestBrowser(fleet, await fleet.credentialsOf({ commonName: 'rita' }))
  const ask = (name: string) =>
    rita.ask({ method: 'POST', path: path.replace('shop-7', name), json: {} })
  const [there, missing] = [await ask('shop-7'), await ask('shop-8')]
  assert.deepEqual([there.status, missing.status], [403, 403])
  const told = String(there.body.message).replaceAll('shop-7', 'shop-8')
  assert.equal(told, String(missing.body.message))
  const access = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'ClusterAccess',
    metadata: { name: 'walt' },
    spec: {
      subjects: [{ kind: 'User', name: 'walt', apiGroup: 'rbac.authorization.k8s.io' }],
      clusterSelector: {},
      verbs: ['get', 'create', 'list', 'update'],
    },
  }
  const admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const accesses = '/apis/hub.skerry.io/v1alpha1/clusteraccesses'
  const granted = await admin.ask({ method: 'POST', path: accesses, json: access })
  assert.equal(granted.status, 201, granted.text)
  const walt = openTestBrowser(fleet, await fleet.credentialsOf({ commonName: 'walt' }))
  const atSite = await walt.ask({ method: 'POST', path, json: {} })
  assert.equal(atSite.status, 403)
  assert.match(String(atSite.body.message), /"walt" cannot get .*configmaps/)
  const anonymous = openTestBrowser(fleet)
  assert.equal((await anonymous.ask({ method: 'POST', path, json: {} })).status, 403)
  assert.equal(await tokens(), before)
})

const refusals: readonly [unknown, number][] = [
  [{ ttlSeconds: 0 }, 400],
  [{ ttlSeconds: 1e9 }, 400],
  [{ ttlSeconds: '600' }, 400],
  [{ labels: { a: '$(reboot)' } }, 400],
  [{ labels: { 'a b': 'c' } }, 400],
  [{ labels: { a: 7 } }, 400],
  [{ labels: ['a'] }, 400],
  [{ labels: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`k${at}`, ''])) }, 400],
  [{ more: 1 }, 400],
  [{ machine: 'yes' }, 400],
  [[], 400],
  [{ labels: { a: 'x'.repeat(20_000) } }, 413],
]
test('labels and times that are not valid are refused before the site is asked', async () => {
  const before = await tokens()
  const browser = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  for (const [json, status] of refusals) {
    const answer = await browser.ask({ method: 'POST', path, json })
    assert.equal(answer.status, status, `${JSON.stringify(json).slice(0, 80)}: ${answer.text}`)
  }
  assert.equal((await browser.ask({ path })).status, 405)
  assert.equal((await browser.ask({ method: 'POST', path, form: 'a=b' })).status, 415)
  assert.equal(await tokens(), before)
})
