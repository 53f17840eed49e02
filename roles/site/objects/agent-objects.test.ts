import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { createHttpsTransport, readBody } from '@skerry/client'
import { startTestEdge } from '../../../testing/scenes/test-fleet.ts'
import { ensureAgentObjects } from './agent-objects.ts'

type Edge = Awaited<ReturnType<typeof startTestEdge>>

const role = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }

/** Returns the user that the cluster recognizes by the agent's credentials, without the agent in between. */
async function actAs({ api }: Edge, user: string, group: string): Promise<string> {
  using transport = createHttpsTransport(api, { clock: systemClock })
  const { status, body } = await transport.send(
    {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: {
        'content-type': 'application/json',
        'impersonate-user': user,
        'impersonate-group': group,
        'impersonate-uid': '7',
        'impersonate-extra-scopes': 'any',
      },
      body: Buffer.from('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'),
    },
    AbortSignal.timeout(30_000),
  )
  const answer = JSON.parse((await readBody(body)).toString())
  return status === 201 ? answer.status.userInfo.username : `${status} ${answer.details?.kind}`
}

test("the credentials of a site's agent act only for the users that its options name", async () => {
  await using edge = await startTestEdge({ policy: { users: ['rita'], groups: ['shop-staff'] } })
  assert.equal(await actAs(edge, 'rita', 'shop-staff'), 'rita')
  assert.equal(await actAs(edge, 'rita', 'system:masters'), '403 groups')
  assert.equal(await actAs(edge, 'olga', 'shop-staff'), '403 users')
  assert.equal(await actAs(edge, 'system:serviceaccount:a:b', 'shop-staff'), '403 serviceaccounts')
})

test("the right of a site's agent follows its options, even at an existing site", async () => {
  await using edge = await startTestEdge()
  assert.equal(await actAs(edge, 'olga', 'system:masters'), 'olga')
  await ensureAgentObjects(edge.objects, { policy: { groups: ['shop-staff'] } })
  assert.equal(await actAs(edge, 'olga', 'system:masters'), '403 groups')
  await ensureAgentObjects(edge.objects, { policy: { groups: ['office'] } })
  assert.equal(await actAs(edge, 'olga', 'shop-staff'), '403 groups')
  assert.equal(await actAs(edge, 'olga', 'office'), 'olga')
  await ensureAgentObjects(edge.objects, { policy: { deniedGroups: ['guests'] } })
  assert.equal(await actAs(edge, 'olga', 'system:masters'), 'olga')
})

test("an operator's changes to the role stay", async () => {
  await using edge = await startTestEdge({ policy: { groups: ['shop-staff'] } })
  const key = { namespace: '', name: 'skerry:agent' }
  await edge.objects.update(role, key, (object) => void Object.assign(object, { rules: [] }))
  for (const policy of [{}, { groups: ['shop-staff'] }]) {
    await ensureAgentObjects(edge.objects, { policy })
    assert.deepEqual(edge.objects.get(role, '', key.name)?.['rules'] ?? [], [])
  }
})
