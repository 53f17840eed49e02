import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestServer } from './testing/open-test-server.ts'

const b = (text: string): Uint8Array => Buffer.from(text)

test('the end of a lease is answered with its own revision, though others write meanwhile', async () => {
  await using server = await openTestServer()
  const { client } = server
  const leases = [11n, 12n, 13n]
  for (const id of leases) {
    await client.call('LeaseGrant', { id, ttl: 600 })
    await client.call('Put', { key: b(`held/${id}`), value: b('x'), lease: id })
  }
  const asked = leases.flatMap((id) => [
    client.call('LeaseRevoke', { id }),
    client.call('Put', { key: b(`other/${id}`), value: b('y') }),
  ])
  const answers = await Promise.all(asked)
  const revisions = answers.map(({ header }) => header?.revision ?? 0)
  assert.deepEqual(
    revisions.toSorted((one, other) => one - other),
    [5, 6, 7, 8, 9, 10],
  )
})
