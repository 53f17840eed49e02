import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorLogger, until } from '@skerry/testing'
import { LocalApiScene } from '../testing/local-api-scene.ts'

const { log } = errorLogger()
const maps = '/api/v1/namespaces/shop/configmaps'
const readMaps = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
/** The forms for which clients ask, the newest first. */
const ofClients =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'

test('a client that starts while the control plane is away learns what is served', async () => {
  await using scene = await LocalApiScene.start({ log })
  const app = await scene.account('app', readMaps)
  const stranger = await scene.account('stranger', readMaps)
  await until(async () => (await scene.ask('', { path: '/readyz' })).status === 200)
  const paths = ['/api/v1', '/apis/apps/v1', '/apis/policy/v1', '/apis/autoscaling/v1']
  const lists = await Promise.all(paths.map((path) => scene.admin({ path })))
  const whole = await scene.admin({ path: '/apis', headers: { accept: ofClients } })
  await scene.ask(app, { path: maps })
  await scene.untilRemembered(/"system:serviceaccount:shop:app"[^\]]*\],"get",("",){6}"\/apis"\]/)
  await scene.untilRemembered(/"kind":"APIGroupDiscoveryList".*"name":"apps"/)
  await scene.cut()
  const kept = await scene.ask(app, { path: '/apis', headers: { accept: ofClients } })
  assert.deepEqual(kept.body, whole.body)
  for (const [at, path] of paths.entries()) {
    const accept = 'application/json, */*'
    const { status, body } = await scene.ask(app, { path, headers: { accept } })
    assert.equal(status, 200, path)
    const hashed = lists[at]?.body.resources ?? []
    const plain = hashed.map(
      ({ storageVersionHash: _hash, ...rest }: Record<string, unknown>) => rest,
    )
    assert.deepEqual(
      { ...body, resources: sorted(body.resources) },
      { ...lists[at]?.body, resources: sorted(plain) },
    )
  }
  assert.equal((await scene.ask(app, { path: '/apis/none/v1' })).status, 503)
  assert.equal((await scene.ask(stranger, { path: '/api/v1' })).status, 503)
})

function sorted(resources: readonly { name: string }[]): readonly { name: string }[] {
  return resources.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
