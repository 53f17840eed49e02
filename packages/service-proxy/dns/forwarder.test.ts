import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { createForwarder } from './forwarder.ts'

const deps = { clock: systemClock }

async function resolver(
  ...answers: ((query: Buffer) => Buffer)[]
): Promise<{ port: number } & Disposable> {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    for (const answer of answers) socket.send(answer(query), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { port: socket.address().port, [Symbol.dispose]: () => socket.close() }
}

const query = Buffer.from([0x12, 0x34, 1, 2, 3])

test('the answer comes back as the resolver gave it', async () => {
  using server = await resolver((asked) =>
    Buffer.concat([asked.subarray(0, 2), Buffer.from('answer')]),
  )
  const answer = await createForwarder(['127.0.0.1'], deps, server.port).forward(query, false)
  assert.equal(answer.subarray(2).toString(), 'answer')
})

test('an answer too short to have an id is not an answer, and harms nobody', async () => {
  using server = await resolver(
    () => Buffer.alloc(0),
    () => Buffer.from([0x12]),
    (asked) => Buffer.concat([asked.subarray(0, 2), Buffer.from('answer')]),
  )
  const answer = await createForwarder(['127.0.0.1'], deps, server.port).forward(query, false)
  assert.equal(answer.subarray(2).toString(), 'answer')
})

test('a resolver that cannot be reached is passed over for the next', async () => {
  using server = await resolver((asked) => asked)
  const answer = await createForwarder(['255.255.255.255', '127.0.0.1'], deps, server.port).forward(
    query,
    false,
  )
  assert.deepEqual([...answer], [...query])
})

test('with no resolver, or none in reach, the query fails and nothing else does', async () => {
  await assert.rejects(createForwarder([], deps).forward(query, false), /no resolvers/)
  await assert.rejects(createForwarder(['255.255.255.255'], deps).forward(query, false))
})
