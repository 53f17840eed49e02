import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import { resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { startControllerWorld } from '../testing/controller-world.ts'
import { bundleName, clusterTrustBundlePublisher } from './cluster-trust-bundle-publisher.ts'

const signerName = 'kubernetes.io/kube-apiserver-serving'
const switches = {
  runtimeConfig: { 'certificates.k8s.io/v1beta1': 'true' },
  featureGates: { ClusterTrustBundle: 'true' },
}

test('the authority of the server is its one trust bundle, where the server has the kind', async () => {
  await using api = await startTestApiServer({ kinds: await builtinKinds({ switches }) })
  const pem = api.authority.certificatePem
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: [],
    configured: [clusterTrustBundlePublisher(pem)],
  })
  const bundles = world.client(resources.clusterTrustBundles)
  const [first] = await world.eventually(resources.clusterTrustBundles, (all) =>
    all.length === 1 ? all : undefined,
  )
  assert.deepEqual(first?.spec, { signerName, trustBundle: pem })
  assert.match(first?.metadata.name ?? '', /^kubernetes\.io:kube-apiserver-serving:[0-9a-f]{24}$/)
  assert.ok(first)
  const stale = { ...first, metadata: { name: bundleName(`${pem}\n`) } }
  await bundles.create(stale, world.signal)
  await world.eventually(resources.clusterTrustBundles, (all) =>
    all.length === 1 && all[0]?.metadata.name === first?.metadata.name ? true : undefined,
  )
})
