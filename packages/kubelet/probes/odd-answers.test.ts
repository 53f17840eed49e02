import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'node:test'
import { systemClock, seededRandom } from '@skerry/base'
import {
  collectUncaught,
  oddFrame,
  oddRawAnswers,
  says,
  saysPieces,
  settingsFrame,
  startRawPeer,
  type RawPeer,
} from '@skerry/testing'
import { grpcHealth } from './grpc-health.ts'
import { httpGet } from './http-get.ts'

/** A container answers probes as it likes: it costs its own probe, and neither time nor the node agent. */
const seed = 20_261_125
const rounds = 60

/** Far beyond the time of a probe: if this limit is reached, the probe did not end itself. */
const soon = (): AbortSignal => AbortSignal.timeout(12_000)

type Answers = Generator<readonly [what: string, answer: RawPeer['answer']]>

function* rawAnswers(more: number): Answers {
  for (const [what, parts, random] of oddRawAnswers(seed, more)) {
    yield [what, saysPieces(parts, random)]
  }
  yield ['silence', () => undefined]
  yield ['half an answer', (connection) => connection.write('HTTP/1.1 200 OK\r\ncontent-')]
  yield [
    'a body that does not end',
    (connection) => connection.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
  ]
}

/** Runs one probe after another, each of which must end within its time, and then a successful one. */
async function probeEach(
  peer: RawPeer,
  answers: Answers,
  probe: (timeoutMs: number) => Promise<string>,
): Promise<void> {
  using uncaught = collectUncaught()
  for (const [what, answer] of answers) {
    peer.answer = answer
    const startMs = performance.now()
    const outcome = await probe(250).catch((error: unknown) => {
      assert.ok(error instanceof Error, what)
      return `failed: ${error.message}`
    })
    assert.match(outcome, /^(failed: .|\d+$)/, what)
    assert.ok(performance.now() - startMs < 10_000, `${what} held the probe`)
    await nextTurn()
    assert.deepEqual(uncaught.errors, [], what)
  }
}

test(`an odd answer to an HTTP probe fails that probe only, and in time (seed ${seed})`, async () => {
  using peer = await startRawPeer(says(''))
  const target = {
    action: { port: peer.port, path: '/' },
    container: { name: 'main' },
    podIp: '127.0.0.1',
    userAgent: 'test',
    clock: systemClock,
  }
  const probe = async (timeoutMs: number): Promise<string> => {
    const { status, body } = await httpGet({ ...target, timeoutMs }, soon())
    assert.ok(body.length <= 10 * 1024)
    return String(status)
  }
  await probeEach(peer, rawAnswers(rounds), probe)
  peer.answer = says('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  assert.equal(await probe(10_000), '200')
})

test(`odd frames in answer to a gRPC probe fail that probe only, and in time (seed ${seed})`, async () => {
  using peer = await startRawPeer(says(''))
  const address = `127.0.0.1:${peer.port}`
  const probe = (timeoutMs: number) => grpcHealth({ address, service: '', timeoutMs }, soon())
  const random = seededRandom(seed)
  const frames = function* (): Answers {
    yield* rawAnswers(10)
    yield ['settings, and then silence', (connection) => connection.write(settingsFrame)]
    for (let round = 0; round < rounds; round += 1) {
      const parts = Array.from({ length: 1 + Math.floor(random.next() * 6) }, () =>
        oddFrame(random),
      )
      const what = Buffer.concat(parts).toString('hex')
      yield [what, saysPieces([settingsFrame, ...parts], random)]
    }
  }
  await probeEach(peer, frames(), probe)
})
