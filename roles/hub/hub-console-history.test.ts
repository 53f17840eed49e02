import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestBrowser } from '../../testing/scenes/test-browser.ts'
import {
  registerCluster,
  startTestAgent,
  startTestEdge,
  startTestHub,
} from '../../testing/scenes/test-fleet.ts'

const olga = { commonName: 'olga', organizations: ['system:masters'] }
const pathOf = (name: string): string => `/hub/v1/cluster-states/${name}/history`

test('the history of a tunnel is for those who may see its cluster, and others learn nothing', async () => {
  await using fleet = await startTestHub()
  await using edge = await startTestEdge()
  await registerCluster(fleet, 'shop-7')
  const browser = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const early = await browser.ask({ path: pathOf('shop-7') })
  assert.deepEqual([early.status, early.body['state']], [200, []])
  await using agent = await startTestAgent(fleet, { name: 'shop-7', api: edge.api })
  await agent.connected()
  const told = await browser.ask({ path: pathOf('shop-7') })
  assert.equal(told.status, 200, told.text)
  const { step, state, up } = told.body as { step: number; state: number[]; up: number[] }
  assert.deepEqual([step, state.length, state.at(-1), state[0]], [10, 360, 1, null])
  assert.equal(typeof up.at(-1), 'number')
  for (const odd of ['none', '%2e%2e', '..%2fshop-7', 'a%00', "'"]) {
    const { status } = await browser.ask({ path: pathOf(odd) })
    assert.ok(status === 404 || status === 400, `${odd}: ${status}`)
  }
  assert.equal((await browser.ask({ path: '/hub/v1/cluster-states/a/b/history' })).status, 404)
  assert.equal((await browser.ask({ method: 'POST', path: pathOf('shop-7') })).status, 405)
  const rita = openTestBrowser(fleet, await fleet.credentialsOf({ commonName: 'rita' }))
  const [there, missing] = [
    await rita.ask({ path: pathOf('shop-7') }),
    await rita.ask({ path: pathOf('shop-8') }),
  ]
  assert.deepEqual([there.status, missing.status], [403, 403])
  assert.equal(String(there.body.message).replaceAll('shop-7', 'shop-8'), missing.body.message)
  assert.equal((await openTestBrowser(fleet).ask({ path: pathOf('shop-7') })).status, 403)
})
