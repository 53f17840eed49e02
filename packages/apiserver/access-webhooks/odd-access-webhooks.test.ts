import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seededRandom, silentLogger, systemClock, type Clock } from '@skerry/base'
import { createHttpsTransport, type HttpsTransport } from '@skerry/client'
import {
  giveRight,
  oddJsonAnswers,
  says,
  startRawPeer,
  tryOddAnswers,
  webhookCertificate,
  type RawPeer,
  type Told,
} from '@skerry/testing'
import { createAuditWebhook } from '../audit/audit-webhook.ts'
import { TokenError } from '../authn/token-authenticator.ts'
import { createAccessWebhook } from './access-webhook.ts'
import { createPostReview } from './post-review.ts'
import { createTokenWebhook } from './token-webhook.ts'

/** A broken webhook must not let anyone in, and must not stop the server. */
const seed = 20_261_129
const random = seededRandom(1)
const signal = new AbortController().signal
/** Retries follow each other without a pause. */
const clock: Clock = { ...systemClock, sleep: async () => undefined }
const failures = ['307', '400', '401', '403', '404', '429', '500', '503']
const timeoutMs = 10_000
const impatientMs = 200
/** A request whose answer breaks off is sent up to five times. */
const bytesMax = 32 * 1024 * 1024

let peer: RawPeer
let transport: HttpsTransport

before(async () => {
  const tls = await webhookCertificate()
  peer = await startRawPeer(says(''), { tls })
  const server = `https://127.0.0.1:${peer.port}/ask`
  transport = createHttpsTransport({ server, certificateAuthority: tls.ca }, { clock: systemClock })
})

after(() => {
  transport[Symbol.dispose]()
  peer[Symbol.dispose]()
})

test(`an authorization webhook that answers oddly has failed, and allows nothing (seed ${seed})`, async () => {
  const user = { name: 'ada', groups: [], extra: {} }
  const askWithin = (ms: number) => {
    const post = createPostReview(transport, ms, { peer: 'webhook "a"', clock, random })
    const options = { version: 'v1', allowedMs: 0, othersMs: 0, onFailure: 'deny' } as const
    const authorizer = createAccessWebhook(post, options, { clock, log: silentLogger })
    return async (): Promise<Told> => {
      const asked = { user, verb: 'get', isResourceRequest: false, path: '/healthz' }
      const { error, ...decision } = await authorizer.authorize(asked)
      if (!error) return { value: decision }
      assert.equal(decision.verdict, 'deny')
      return { error: error.message }
    }
  }
  const asking = { ask: askWithin(timeoutMs), askImpatiently: askWithin(impatientMs) }
  const right = () => JSON.stringify({ status: { allowed: true, denied: false, reason: 'so' } })
  // The second alternative is upstream's message for an answer that both allows and denies.
  const names = /^webhook "a": |^webhook subject access review returned both/
  const answers = oddJsonAnswers(seededRandom(seed), { mutations: 60, rounds: 40, failures })
  await tryOddAnswers({ peer, right, ...asking, names, bytesMax }, answers)
  for (const status of [
    { allowed: true, denied: 'true' },
    { allowed: true, denied: 1 },
    { allowed: 'true' },
    { allowed: true, reason: ['so'] },
    [true],
  ]) {
    assert.match(await faultOf({ status }, asking.ask), names, JSON.stringify(status))
  }
})

/** Returns the error for an answer in which one field has another type. */
async function faultOf(answer: object, ask: () => Promise<Told>): Promise<string> {
  peer.answer = (connection) => giveRight(connection, JSON.stringify(answer))
  const told = await ask()
  return 'error' in told ? told.error : `no fault: ${JSON.stringify(told.value)}`
}

test(`an authentication webhook that answers oddly knows nobody (seed ${seed})`, async () => {
  const post = createPostReview(transport, timeoutMs, { peer: 'webhook "b"', clock, random })
  const options = { version: 'v1', cacheMs: 0, audiences: ['api'] } as const
  const tokens = createTokenWebhook(post, options, { clock, log: silentLogger })
  let count = 0
  const ask = async (): Promise<Told> => {
    try {
      return { value: await tokens.authenticateToken(`t${(count += 1)}`, ['api'], signal) }
    } catch (error) {
      assert.ok(error instanceof TokenError, String(error))
      return { error: error.message }
    }
  }
  const user = { username: 'ada', uid: '7', groups: ['dev'], extra: { scope: ['a'] } }
  const right = () => JSON.stringify({ status: { authenticated: true, user, audiences: ['api'] } })
  const answers = oddJsonAnswers(seededRandom(seed), {
    mutations: 100,
    rounds: 0,
    parts: 'documents',
  })
  const names = /^webhook "b": /
  await tryOddAnswers({ peer, right, ask, names }, answers)
  for (const odd of [
    { authenticated: 'true' },
    { audiences: 'api' },
    { user: [user] },
    { user: { ...user, username: 7 } },
    { user: { ...user, groups: ['dev', 7] } },
    { user: { ...user, extra: { scope: 'a' } } },
  ]) {
    const status = { authenticated: true, user, audiences: ['api'], ...odd }
    assert.match(await faultOf({ status }, ask), names, JSON.stringify(odd))
  }
})

test(`an audit webhook that answers oddly loses its own events (seed ${seed})`, async () => {
  const pauseMs = 7
  let error: unknown
  let settled = Promise.withResolvers<void>()
  const webhook = createAuditWebhook(
    { batchMax: 1, batchMs: 0, pauseMs, retryMs: 1, timeoutMs },
    {
      transport,
      clock: {
        ...clock,
        setTimer(ms, onTimer) {
          // The webhook pauses after each batch, so this timer means that a batch is done.
          if (ms === pauseMs) settled.resolve()
          return clock.setTimer(ms, onTimer)
        },
      },
      random,
      log: { ...silentLogger, error: (_message, fields) => void (error = fields?.['error']) },
      lost: { inc: () => undefined },
    },
  )
  const stop = new AbortController()
  const running = webhook.run(stop.signal)
  const ask = async (): Promise<Told> => {
    settled = Promise.withResolvers()
    error = undefined
    webhook.write('{"a":1}')
    await settled.promise
    return error instanceof Error ? { error: error.message } : { value: true }
  }
  const answers = oddJsonAnswers(seededRandom(seed), {
    mutations: 0,
    rounds: 40,
    failures,
    parts: 'frames',
  })
  await tryOddAnswers(
    { peer, right: () => '{}', ask, bytesMax, names: /^audit webhook: / },
    answers,
  )
  stop.abort()
  await running
})
