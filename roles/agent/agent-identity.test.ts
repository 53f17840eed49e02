import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import {
  certificateLifetimes,
  issueClientCertificate,
  writeCertificateAndKey,
} from '@skerry/bootstrap'
import { inspectCertificateAndKey } from '@skerry/bootstrap'
import { agentsGroup } from '@skerry/fleet-kinds'
import { isIssuedBy, spkiHash } from '@skerry/pki'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
} from '../../testing/scenes/test-fleet.ts'
import { openAgentIdentity } from './agent-identity.ts'

const isConnected = ({ Connected }: Readonly<Record<string, string>>): boolean =>
  Connected === 'True'

test('a cluster moves to another hub, or to one created again, with that hub’s token and hash', async () => {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-agent-moves-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const edge = stack.use(await startTestEdge())
  const asked = { name: 'edge', api: edge.api, directory }
  {
    await using first = await startTestHub()
    await using _agent = await startTestAgent(first, asked)
    await untilCluster(first, 'edge', isConnected)
  }
  const second = stack.use(await startTestHub())
  {
    await using _agent = await startTestAgent(second, asked)
    await untilCluster(second, 'edge', isConnected)
  }
  const pem = await readFile(join(directory, 'agent.crt'), 'utf8')
  assert.ok(isIssuedBy(pem, second.caPem))
  // From then on it needs no token there either.
  await using again = await startTestAgent(second, { ...asked, token: '' })
  await again.connected()
})

const dayMs = 86_400_000

test('an identity that a wrong clock makes useless stays until there is another, even next to an expired token', async () => {
  await using fleet = await startTestHub()
  const directory = join(fleet.directory, 'agent')
  const paths = {
    certificatePath: join(directory, 'agent.crt'),
    keyPath: join(directory, 'agent.key'),
  }
  // The clocks of both machines are more than a month past the end of the certificate.
  const endedMs = Date.now() - 31 * dayMs
  const issued = await issueClientCertificate(
    fleet.hub.plane.pki.authority,
    { subject: { commonName: 'system:karmada:agent:edge', organizations: [agentsGroup] } },
    { now: () => endedMs - certificateLifetimes.leafMs },
  )
  await writeCertificateAndKey(paths, issued)
  await writeFile(join(directory, 'ca.crt'), fleet.caPem)
  const open = (tokenText: string | undefined, nowMs: number) =>
    openAgentIdentity(
      {
        directory,
        hub: fleet.url,
        clusterName: 'edge',
        tokenFile: undefined,
        tokenText,
        caHash: spkiHash(fleet.caPem),
      },
      { ...fleet.context, clock: { ...systemClock, now: () => nowMs } },
    )
  await assert.rejects(open('abcdef.0123456789abcdef', Date.now()), { reason: 'Unauthorized' })
  assert.deepEqual((await inspectCertificateAndKey(paths)).pair, issued)
  const { client } = await open(undefined, endedMs - dayMs)
  assert.deepEqual(client.current, issued)
})
