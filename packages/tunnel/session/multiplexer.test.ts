import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import {
  frameHeaderBytes,
  frameTypes,
  writeFrameHeader,
  type FrameType,
} from '../frame/tunnel-frame.ts'
import { Multiplexer } from './multiplexer.ts'
import { memoryLinks } from '../testing/memory-link.ts'
import { defaultTrafficRules } from '../traffic/traffic-rules.ts'
import { validateTunnelLimits } from '../frame/validate-tunnel-limits.ts'
import { behindHead } from '../web-socket/web-socket-endpoint.ts'
import type { TunnelLink } from '../frame/tunnel-link.ts'

const deps = { clock: simulatedClock() }

function frame(type: FrameType, stream: number, payload: Buffer, isEnd = false): Buffer {
  const header = Buffer.alloc(frameHeaderBytes)
  writeFrameHeader(header, 0, { type, isEnd, stream, length: payload.length })
  return Buffer.concat([header, payload])
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const head = Buffer.concat([number(65_536), Buffer.from('GET\n/\n\n')])
const answer = Buffer.from('200\n')

function sendAll(link: TunnelLink, messages: readonly Buffer[]): void {
  for (const message of messages) link.send(behindHead(message), () => undefined)
}

interface Attack {
  what: string
  messages: readonly Buffer[]
  words: RegExp
}

const onHub: readonly Attack[] = [
  {
    what: 'asks the hub',
    messages: [frame(frameTypes.open, 3, head)],
    words: /from the end that answers/,
  },
  {
    what: 'answers what nobody asked',
    messages: [frame(frameTypes.answer, 7, answer)],
    words: /for no stream/,
  },
  {
    what: 'answers twice',
    messages: [frame(frameTypes.answer, 1, answer), frame(frameTypes.answer, 1, answer)],
    words: /out of place/,
  },
  {
    what: 'sends a body before its answer',
    messages: [frame(frameTypes.data, 1, Buffer.alloc(1))],
    words: /out of place/,
  },
  {
    what: 'sends more than it has credit for',
    messages: [
      frame(frameTypes.answer, 1, answer),
      ...Array.from({ length: 3 }, () => frame(frameTypes.data, 1, Buffer.alloc(100_000))),
    ],
    words: /more bytes than there was credit for/,
  },
  {
    what: 'says how the hub should send',
    messages: [frame(frameTypes.traffic, 0, Buffer.from('{}'))],
    words: /rules of traffic from the end that obeys them/,
  },
  {
    what: 'gives more credit than there is',
    messages: [frame(frameTypes.credit, 1, number(0x7fff_ffff))],
    words: /more credit than there may be/,
  },
]
for (const { what, messages, words } of onHub) {
  test(`a tunnel ends when its agent ${what}`, async () => {
    const { near, far } = memoryLinks()
    const fault = Promise.withResolvers<Error>()
    const hub = new Multiplexer(
      near,
      validateTunnelLimits(),
      {
        onGoAway: () => undefined,
        onFault: fault.resolve,
      },
      deps,
    )
    hub.open(['GET', '/', '', ''], false)
    sendAll(far, messages)
    assert.match((await fault.promise).message, words)
    hub.end()
    assert.equal(hub.bufferedBytes, 0)
  })
}

const onAgent: readonly Attack[] = [
  {
    what: 'opens a stream twice',
    messages: [frame(frameTypes.open, 1, head), frame(frameTypes.open, 1, head)],
    words: /opened twice/,
  },
  {
    what: 'answers',
    messages: [frame(frameTypes.open, 1, head), frame(frameTypes.answer, 1, answer)],
    words: /out of place/,
  },
  {
    what: 'sends on after its end',
    messages: [frame(frameTypes.open, 1, head, true), frame(frameTypes.data, 1, Buffer.alloc(1))],
    words: /out of place/,
  },
]
for (const { what, messages, words } of onAgent) {
  test(`a tunnel ends when its hub ${what}`, async () => {
    const { near, far } = memoryLinks()
    const fault = Promise.withResolvers<Error>()
    const agent = new Multiplexer(
      near,
      validateTunnelLimits(),
      {
        onOpen: () => undefined,
        onGoAway: () => undefined,
        onFault: fault.resolve,
      },
      deps,
    )
    sendAll(far, messages)
    assert.match((await fault.promise).message, words)
    agent.end()
  })
}

test('rules that cannot be obeyed change nothing at an agent', async () => {
  const { near, far } = memoryLinks()
  const gone = Promise.withResolvers<string>()
  const agent = new Multiplexer(
    near,
    validateTunnelLimits(),
    {
      onOpen: () => undefined,
      onGoAway: gone.resolve,
      onFault: (error) => gone.reject(error),
      onTraffic: () => gone.reject(new Error('they were obeyed')),
    },
    deps,
  )
  const { floors, bulkAfterBytes } = defaultTrafficRules
  const texts = [
    '',
    'null',
    JSON.stringify({ floors, bulkAfterBytes, rate: { bytesPerSecond: -1, burstBytes: 0 } }),
    JSON.stringify({ floors: { ...floors, bulk: -1 }, bulkAfterBytes }),
    '{'.repeat(100_000),
  ]
  sendAll(far, [
    ...texts.map((text) => frame(frameTypes.traffic, 0, Buffer.from(text))),
    frame(frameTypes.goAway, 0, Buffer.from('done')),
  ])
  assert.equal(await gone.promise, 'done')
  assert.equal(agent.rules.rate, undefined)
  agent.end()
})

test('data for a stream that is over harms nobody', async () => {
  const { near, far } = memoryLinks()
  const faults: Error[] = []
  const gone = Promise.withResolvers<string>()
  const hub = new Multiplexer(
    near,
    validateTunnelLimits(),
    {
      onGoAway: gone.resolve,
      onFault: (error) => faults.push(error),
    },
    deps,
  )
  hub.open(['GET', '/', '', ''], true).reset(8)
  sendAll(far, [
    frame(frameTypes.answer, 1, answer),
    frame(frameTypes.data, 1, Buffer.alloc(10), true),
    frame(frameTypes.credit, 1, number(5)),
    frame(frameTypes.reset, 1, number(0)),
    frame(frameTypes.goAway, 0, Buffer.from('done')),
  ])
  assert.equal(await gone.promise, 'done')
  assert.deepEqual(faults, [])
  assert.deepEqual([hub.count, hub.bufferedBytes], [0, 0])
})

test('a request that is no longer read ends with its answer, and holds no memory', async () => {
  const { near, far } = memoryLinks()
  const gone = Promise.withResolvers<string>()
  const agent = new Multiplexer(
    near,
    validateTunnelLimits(),
    {
      onOpen: (stream) => {
        stream.answer(['200', ''])
        stream.write(Buffer.alloc(100_000))
        stream.end()
        stream.stopReading()
      },
      onGoAway: gone.resolve,
      onFault: gone.reject,
    },
    deps,
  )
  let received = 0
  const ended = Promise.withResolvers<void>()
  far.receive((piece) => {
    received += piece.length
    if (received > 100_000) ended.resolve()
  })
  sendAll(far, [
    frame(frameTypes.open, 1, head),
    frame(frameTypes.data, 1, Buffer.alloc(10)),
    frame(frameTypes.data, 1, Buffer.alloc(10), true),
    frame(frameTypes.credit, 1, number(65_536)),
  ])
  await ended.promise
  assert.deepEqual([agent.count, agent.bufferedBytes], [0, 0])
  sendAll(far, [frame(frameTypes.goAway, 0, Buffer.from('done'))])
  assert.equal(await gone.promise, 'done')
})
