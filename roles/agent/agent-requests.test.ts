/** Nobody gets a certificate of a revoked agent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@skerry/api'
import { requestCertificate } from '@skerry/bootstrap'
import { createCluster, resources } from '@skerry/client'
import { agentUserName, agentsGroup } from '@skerry/fleet-kinds'
import { revokeAgent } from '@skerry/membership'
import { startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const hourMs = 3_600_000

/**
 * Calls the hub inside this process, where certificates are not checked: as if the request came before the
 * revocation.
 */
function agentOf(fleet: TestHub, name: string) {
  const user = { name: agentUserName(name), groups: [agentsGroup], extra: {} }
  const transport = fleet.hub.plane.server.transport(user)
  const api = createCluster(transport, { ...fleet.context, userAgent: 'test' })
  const subject = { commonName: user.name, organizations: [agentsGroup] }
  const asked = {
    generateName: `${name}-`,
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['digital signature', 'client auth'],
    subject,
  }
  return {
    ask: () => requestCertificate(api, asked, fleet.context, soon()),
    get: (request: string) =>
      api.resource(resources.certificateSigningRequests).get({ name: request }, soon()),
  }
}

test('a request that an agent made before it was revoked is denied, and another agent reads no request of it', async () => {
  await using fleet = await startTestHub()
  const [bank, shop] = [agentOf(fleet, 'bank'), agentOf(fleet, 'shop')]
  await bank.ask()
  const requests = fleet.admin.resource(resources.certificateSigningRequests)
  const [made] = (await requests.list({}, soon())).items
  const name = made?.metadata.name ?? ''
  assert.equal((await bank.get(name)).metadata.name, name)
  const isForbidden = (error: unknown) =>
    error instanceof StatusError && error.reason === 'Forbidden'
  await assert.rejects(shop.get(name), isForbidden)
  await revokeAgent(fleet.admin, { cluster: 'bank', nowMs: Date.now() + hourMs }, soon())
  await assert.rejects(bank.ask(), /is denied: the agent of cluster "bank" was revoked/)
  await shop.ask()
})
