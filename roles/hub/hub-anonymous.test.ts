import assert from 'node:assert/strict'
import { request as httpsRequest } from 'node:https'
import { test } from 'node:test'
import { clusterStatesPath, reachableClustersPath, tunnelPrefix } from '@skerry/gateway'
import { registerCluster, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

/** Sends a request without a certificate and without a token. */
function statusOf(fleet: TestHub, path: string, method = 'GET'): Promise<number> {
  const target = new URL(path, fleet.url)
  return new Promise((resolve, reject) => {
    httpsRequest(target, { method, ca: fleet.caPem, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })
}

const open = [
  '/healthz',
  '/livez',
  '/readyz',
  '/version',
  '/api/v1/namespaces/kube-public/configmaps/cluster-info',
  '/skerry/program/install.sh',
]

test('an anonymous user may read health, version, cluster-info and the program, and nothing else', async () => {
  const programs = { aarch64: [import.meta.filename] }
  await using fleet = await startTestHub({ machines: { programs } })
  await registerCluster(fleet, 'edge')
  for (const path of open) assert.equal(await statusOf(fleet, path), 200, path)
  const { resources } = await fleet.admin.discover(soon())
  assert.ok(resources.length > 60, String(resources.length))
  const closed = [
    '/api',
    '/apis',
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/.well-known/openid-configuration',
    '/openid/v1/jwks',
    '/clusters/edge/version',
    '/clusters/edge/services/shop/web:80/',
    '/apis/cluster.karmada.io/v1alpha1/clusters/edge/proxy/version',
    `${tunnelPrefix}edge`,
    clusterStatesPath,
    `${clusterStatesPath}/edge`,
    reachableClustersPath,
    '/skerry/program/',
    '/api/v1/namespaces/kube-public/configmaps',
    ...resources.map(({ group, version, resource }) =>
      group === '' ? `/api/${version}/${resource}` : `/apis/${group}/${version}/${resource}`,
    ),
  ]
  for (const path of closed) assert.equal(await statusOf(fleet, path), 403, path)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.equal(await statusOf(fleet, open[4] ?? '', method), 403, method)
  }
})
