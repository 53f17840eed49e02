import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from './builtin-kinds.ts'
import { parseSwitches, type KindSwitches } from './kind-switches.ts'

const inCertificates = 'certificates.k8s.io/v1beta1'
const slices = 'resource.k8s.io/v1beta1/resourceslices'

async function served(switches: KindSwitches): Promise<ReadonlySet<string>> {
  const kinds = await builtinKinds({ switches })
  return new Set(kinds.map(({ group, version, resource }) => `${group}/${version}/${resource}`))
}

test("the served kinds follow the switches in upstream's order", async () => {
  const table: [runtimeConfig: string, has: readonly string[], hasNot: readonly string[]][] = [
    ['', ['apps/v1/deployments'], [slices]],
    ['api/beta=true', [slices, 'apps/v1/deployments'], [`${inCertificates}/clustertrustbundles`]],
    [
      'api/beta=true,resource.k8s.io/v1beta1=false',
      ['networking.k8s.io/v1beta1/ipaddresses'],
      [slices],
    ],
    [
      `resource.k8s.io/v1beta1=false,${slices}`,
      [slices],
      ['resource.k8s.io/v1beta1/deviceclasses'],
    ],
    [`${slices}=1`, [slices], ['resource.k8s.io/v1beta1/deviceclasses']],
    [
      'autoscaling/v1=false',
      ['autoscaling/v2/horizontalpodautoscalers'],
      ['autoscaling/v1/horizontalpodautoscalers'],
    ],
    ['api/all=false,api/ga=true', ['apps/v1/deployments'], [slices]],
  ]
  for (const [runtimeConfig, has, hasNot] of table) {
    const keys = await served({ runtimeConfig: parseSwitches(runtimeConfig) })
    for (const key of has) assert.ok(keys.has(key), `${runtimeConfig}: ${key}`)
    for (const key of hasNot) assert.ok(!keys.has(key), `${runtimeConfig}: ${key}`)
  }
})

test('a kind behind a feature gate needs the gate and its version', async () => {
  const key = `${inCertificates}/clustertrustbundles`
  const featureGates = parseSwitches('ClusterTrustBundle=true')
  const runtimeConfig = parseSwitches('api/beta=true')
  assert.ok(!(await served({ featureGates })).has(key))
  assert.ok((await served({ featureGates, runtimeConfig })).has(key))
  assert.ok(
    !(await served({ runtimeConfig, featureGates: { ClusterTrustBundle: 'false' } })).has(key),
  )
})

test('switches without a meaning here are refused', async () => {
  const table: [switches: KindSwitches, message: RegExp][] = [
    [{ runtimeConfig: { 'api/alpha': 'true' } }, /alpha versions are not built in/],
    [{ runtimeConfig: { 'resource.k8s.io/v1alpha3': 'true' } }, /alpha versions are not built in/],
    [{ runtimeConfig: { 'api/beta': 'yes' } }, /api\/beta=yes: the value is true or false/],
    [{ runtimeConfig: { 'api/all': 'false' } }, /leaves nothing to serve/],
    [{ runtimeConfig: { 'example.com/v1': 'true' } }, /no API group example.com/],
    [{ runtimeConfig: { 'apps/v7': 'true' } }, /the group apps has no version v7/],
    [{ runtimeConfig: { 'apps/v1/Deployments': 'true' } }, /a plural in lower case/],
    [{ runtimeConfig: { v1: 'false' } }, /a key is/],
    [{ runtimeConfig: { '/v1': 'false' } }, /the core group is always served/],
    [{ featureGates: { Sidecar: 'true' } }, /Sidecar is not one of ClusterTrustBundle/],
  ]
  for (const [switches, message] of table) {
    await assert.rejects(builtinKinds({ switches }), { name: 'RangeError', message })
  }
})
