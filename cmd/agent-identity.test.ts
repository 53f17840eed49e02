import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isIssuedBy } from '@skerry/pki'
import { startTestAgent, startTestEdge, startTestHub, untilCluster } from './test-fleet.ts'

const isConnected = ({ Connected }: Readonly<Record<string, string>>): boolean =>
  Connected === 'True'

test('a cluster goes to another hub, or to one made anew, by that hub’s token and hash', async () => {
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
