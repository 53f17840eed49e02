import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { startTestEtcd, whyNoEtcd, until } from '@skerry/testing'
import { createUserToken } from '../admin/user-tokens.ts'
import { openTestBrowser } from '../../testing/scenes/test-browser.ts'
import { startTestHub } from '../../testing/scenes/test-fleet.ts'
import { etcdFlags } from '../../testing/scenes/test-replicas.ts'
import { replicaKeyPath } from '../control-plane/shared-keys.ts'

const skip = await whyNoEtcd()
const session = '/hub/v1/session'
const cookie = '__Host-skerry-session'

test(
  'a session is good at every replica, and a logout at one ends its streams at the others',
  { skip },
  async () => {
    await using etcd = await startTestEtcd()
    const shared = { etcd: etcdFlags(etcd), accessCheckMs: 300 }
    await using first = await startTestHub(shared)
    const replicaKeyFile = replicaKeyPath(first.directory)
    await using second = await startTestHub({ ...shared, replicaKeyFile })
    const wanted = { name: 'rita', groups: [], ttlMs: 600_000 }
    const { token } = await createUserToken(
      first.admin,
      wanted,
      Date.now(),
      AbortSignal.timeout(30_000),
    )
    const browser = openTestBrowser(first)
    assert.equal(
      (await browser.ask({ method: 'POST', path: session, json: { token } })).status,
      201,
    )
    const other = openTestBrowser(second)
    other.cookies.set(cookie, browser.cookies.get(cookie) ?? '')
    // The other replica hears of the session a moment later.
    const shown = await until(async () => {
      const answer = await other.ask({ path: session })
      return answer.status === 200 ? answer : undefined
    })
    assert.equal(shown.body['user'], 'rita')
    using tab = await other.watches()
    tab.send({ open: 1, path: '/hub/v1/fleet' })
    await tab.until(({ snapshot }) => snapshot !== undefined)
    const closed = once(tab.socket, 'close')
    assert.equal((await browser.ask({ method: 'DELETE', path: session })).status, 204)
    await closed
    await until(async () => (await other.ask({ path: session })).status === 401)
  },
)
