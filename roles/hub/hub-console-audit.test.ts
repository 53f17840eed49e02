import assert from 'node:assert/strict'
import { test } from 'node:test'
import { untilAudited } from '../../testing/scenes/audited-lines.ts'
import { openTestBrowser } from '../../testing/scenes/test-browser.ts'
import { startTestHub } from '../../testing/scenes/test-fleet.ts'

const olga = { commonName: 'olga', organizations: ['system:masters'] }
const path = '/hub/v1/audit'

test('the audit log is for administrators and those who were given it', async () => {
  await using fleet = await startTestHub()
  const admin = openTestBrowser(fleet, await fleet.credentialsOf(olga))
  const rita = openTestBrowser(fleet, await fleet.credentialsOf({ commonName: 'rita' }))
  const maps = '/api/v1/namespaces/default/configmaps'
  const json = { metadata: { name: 'web' } }
  assert.equal((await admin.ask({ method: 'POST', path: maps, json })).status, 201)
  const refused = await rita.ask({ path })
  assert.equal(refused.status, 403)
  assert.ok(!refused.text.includes('configmaps'))
  assert.equal((await openTestBrowser(fleet).ask({ path })).status, 403)
  const isWrite = ({ uri }: { readonly uri: string }): boolean => uri === maps
  await untilAudited(fleet, { count: 1, isWanted: isWrite }, AbortSignal.timeout(20_000))
  const told = await admin.ask({ path: `${path}?user=olga&verb=create&resource=configmaps` })
  assert.equal(told.status, 200, told.text)
  const { replica, cutAt, events } = told.body as {
    replica: string
    cutAt: null
    events: { uri: string; status: number }[]
  }
  assert.deepEqual([typeof replica, cutAt], ['string', null])
  assert.deepEqual(
    events.map(({ uri, status }) => [uri, status]),
    [[maps, 201]],
  )
  assert.equal((await admin.ask({ path: `${path}?limit=0` })).status, 400)
  assert.equal((await admin.ask({ path: `${path}?path=/etc/passwd` })).status, 400)
  assert.equal((await admin.ask({ method: 'DELETE', path })).status, 405)
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const role = {
    metadata: { name: 'auditor' },
    rules: [{ nonResourceURLs: [path], verbs: ['get'] }],
  }
  const binding = {
    metadata: { name: 'auditor' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'auditor' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'rita' }],
  }
  for (const [kind, body] of [
    ['clusterroles', role],
    ['clusterrolebindings', binding],
  ] as const) {
    const made = await admin.ask({ method: 'POST', path: `${rbac}/${kind}`, json: body })
    assert.equal(made.status, 201, made.text)
  }
  assert.equal((await rita.ask({ path: `${path}?limit=1` })).status, 200)
})
