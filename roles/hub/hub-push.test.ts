/** Clusters in push mode, as `karmadactl join` registers them: the hub itself dials their API. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { readBody, resources, type ClusterClient } from '@skerry/client'
import { clusterResource, type ClusterSpec } from '@skerry/fleet-kinds'
import { untilObject } from '@skerry/testing'
import { startTestEdge, startTestHub } from '../../testing/scenes/test-fleet.ts'
import {
  ask,
  clientOf,
  clusterOf,
  joinCluster,
  placeAtShop,
  readyOf,
  secretOf,
  space,
  untilReachable,
} from '../../testing/scenes/test-push.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

test('a joined cluster is reported, fed and reached without an agent, until it is unjoined', async () => {
  await using fleet = await startTestHub({ push: true })
  await using member = await startTestEdge()
  const { admin } = fleet
  const edge = clientOf(member, fleet)
  await joinCluster(fleet, member, edge)
  const shop = { name: 'shop' }
  await untilObject(
    admin,
    { resource: clusterResource, key: shop },
    (cluster) =>
      readyOf(cluster)?.status === 'True' &&
      (cluster?.status?.apiEnablements ?? []).length > 0 &&
      cluster?.status?.kubernetesVersion !== undefined &&
      cluster.status.nodeSummary !== undefined,
    soon(),
  )
  const made = { namespace: 'default', name: 'till' }
  await placeAtShop(admin, made)
  const configMaps = edge.resource(resources.configMaps)
  assert.equal((await configMaps.get(made, soon())).data?.['till'], '7')
  await untilReachable(edge)
  await reach(admin)
  await admin.resource(clusterResource).delete(shop, soon())
  await untilObject(
    admin,
    { resource: clusterResource, key: shop },
    (cluster) => cluster === undefined,
    soon(),
  )
  for (const name of ['shop', 'shop-impersonator']) {
    await untilObject(
      admin,
      { resource: resources.secrets, key: { ...space, name } },
      (secret) => secret === undefined,
      soon(),
    )
  }
  const roles = await edge.resource(resources.clusterRoles).list({}, soon())
  assert.equal(
    roles.items.some(({ metadata }) => metadata.name === 'skerry-hub-impersonator'),
    false,
  )
  assert.equal((await ask(admin, '/clusters/shop/version')).status, 404)
  // The objects there stay.
  assert.equal((await configMaps.get(made, soon())).data?.['till'], '7')
})

/** Reaches it in both ways, as the requesting user. */
async function reach(admin: ClusterClient): Promise<void> {
  const proxy = '/apis/cluster.karmada.io/v1alpha1/clusters/shop/proxy'
  const whoami = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  for (const base of ['/clusters/shop', proxy]) {
    const asked = await ask(admin, `${base}/api/v1/namespaces/default/configmaps/till`)
    assert.equal(asked.status, 200, asked.text)
  }
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const answer = await admin.raw(
    {
      method: 'POST',
      path: `${proxy}${whoami}`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(review)),
    },
    soon(),
  )
  const text = (await readBody(answer.body)).toString('utf8')
  assert.equal(JSON.parse(text).status.userInfo.username, 'kubernetes-admin', text)
  // The hub does not forward a user without the right.
  assert.equal((await ask(admin, `${proxy}/version`, 'anna')).status, 403)
}

/** Starts a proxy that always connects to the given port. */
async function startProxy(port: number) {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer().on('connect', (request, client: Socket) => {
    const { 'proxy-authorization': login = '', 'x-site': site = '' } = request.headers
    asked.push(`${request.url} ${Buffer.from(login.slice(6), 'base64').toString()} ${String(site)}`)
    const onward = connect({ port, host: '127.0.0.1' }, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(onward).pipe(client)
    })
    for (const [socket, other] of [[client, onward] as const, [onward, client] as const]) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.once('close', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    host: `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a cluster behind a proxy is dialled through it, as its Cluster says', async () => {
  await using member = await startTestEdge()
  await using proxy = await startProxy(Number(new URL(member.url).port))
  await using fleet = await startTestHub({ push: true })
  const edge = clientOf(member, fleet)
  await joinCluster(fleet, member, edge, {
    apiEndpoint: 'https://shop.invalid:6443',
    insecureSkipTLSVerification: true,
    proxyURL: `http://keeper:pass@${proxy.host}`,
    proxyHeader: { 'X-Site': 'north' },
  })
  const { admin } = fleet
  const shop = { name: 'shop' }
  await untilObject(
    admin,
    { resource: clusterResource, key: shop },
    (cluster) => readyOf(cluster)?.status === 'True',
    soon(),
  )
  await untilReachable(edge)
  assert.equal((await ask(admin, '/clusters/shop/api/v1/namespaces/default')).status, 200)
  assert.deepEqual([...new Set(proxy.asked)], ['shop.invalid:6443 keeper:pass north'])
})

test('nothing is written to a cluster other than the one that was joined', async () => {
  await using fleet = await startTestHub({ push: true })
  await using member = await startTestEdge()
  const edge = clientOf(member, fleet)
  await joinCluster(fleet, member, edge, { id: 'of-another-one' })
  await untilObject(
    fleet.admin,
    { resource: clusterResource, key: { name: 'shop' } },
    (cluster) => /another cluster answers/.test(readyOf(cluster)?.message ?? ''),
    soon(),
  )
  const { items } = await edge.resource(resources.clusterRoles).list({}, soon())
  assert.ok(items.every(({ metadata }) => metadata.name !== 'skerry-hub-impersonator'))
})

test('a Cluster that cannot be pushed to says why, and can be deleted', async () => {
  await using fleet = await startTestHub({ push: true })
  const { admin } = fleet
  const secrets = admin.resource(resources.secrets)
  const clusters = admin.resource(clusterResource)
  const apiEndpoint = 'https://127.0.0.1:1'
  const data = { token: 'none', caBundle: fleet.caPem }
  for (const name of ['dead', 'plain', 'odd']) await secrets.create(secretOf(name, data), soon())
  await secrets.create(secretOf('loose', { token: 'none' }), soon())
  const table: [string, Partial<ClusterSpec>, RegExp][] = [
    ['dead', { apiEndpoint }, /127\.0\.0\.1/],
    ['plain', { apiEndpoint: 'http://127.0.0.1:1' }, /spec\.apiEndpoint must be an https/],
    ['odd', { apiEndpoint, proxyURL: 'socks5://127.0.0.1:1' }, /spec\.proxyURL must be/],
    ['bare', { apiEndpoint }, /secret "karmada-cluster\/bare" .* is not there/],
    ['loose', { apiEndpoint }, /no caBundle/],
  ]
  for (const [name, spec] of table) await clusters.create(clusterOf(name, spec), soon())
  for (const [name, , why] of table) {
    await untilObject(
      admin,
      { resource: clusterResource, key: { name } },
      (cluster) => {
        const ready = readyOf(cluster)
        return ready?.status === 'False' && why.test(ready.message)
      },
      soon(),
    )
    const { status, text } = await ask(admin, `/clusters/${name}/version`)
    assert.equal(status, 503, text)
  }
  await clusters.delete({ name: 'dead' }, soon())
  await untilObject(
    admin,
    { resource: clusterResource, key: { name: 'dead' } },
    (cluster) => cluster === undefined,
    soon(),
  )
})
