import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { requestLimits } from '../../limits-table.ts'
import { asHubError, type HubError } from './hub-error.ts'
import { askJson, onSignedOut } from './hub-request.ts'

type Answer = () => Response

/** Answers requests by their path, as a hub and a cluster behind it do. Returns how often the console was signed out. */
function answering(t: TestContext, answers: Readonly<Record<string, Answer>>) {
  const before = globalThis.fetch
  globalThis.fetch = async (path) => {
    const answer = answers[typeof path === 'string' ? path : '']
    if (answer === undefined) throw new TypeError('Failed to fetch')
    return answer()
  }
  const signedOut = { times: 0 }
  const forget = onSignedOut(() => (signedOut.times += 1))
  t.after(() => {
    globalThis.fetch = before
    forget()
  })
  return signedOut
}

async function faultOf(path: string): Promise<HubError> {
  return asHubError(
    await askJson(path).then(
      () => assert.fail('it was answered'),
      (error) => error,
    ),
  )
}

const refused: Answer = () => new Response('Unauthorized', { status: 401 })
const nodes = '/clusters/far/api/v1/nodes'

test('a cluster that refuses its hub signs nobody out of the hub', async (t) => {
  const signedOut = answering(t, { [nodes]: refused, '/hub/v1/session': () => new Response('{}') })
  assert.equal((await faultOf(nodes)).facts.code, 401)
  assert.equal(signedOut.times, 0)
})

test('a session that has ended is noticed once, by any answer', async (t) => {
  const signedOut = answering(t, { [nodes]: refused, '/hub/v1/session': refused })
  await Promise.all([faultOf(nodes), faultOf(nodes)])
  assert.equal(signedOut.times, 1)
})

test('a hub that is away ends no session', async (t) => {
  const signedOut = answering(t, { [nodes]: refused })
  await faultOf(nodes)
  assert.equal(signedOut.times, 0)
  assert.ok((await faultOf('/elsewhere')).isAway)
})

test('an answer of another shape is a fault of its own, and nothing is away', async (t) => {
  for (const text of ['<html>', 'null', '7', '{']) {
    answering(t, { '/page': () => new Response(text) })
    const error = await faultOf('/page')
    assert.equal(error.message, 'Cannot read the answer to /page: it is not a JSON object', text)
    assert.equal(error.isAway, false)
  }
  assert.equal(asHubError(new TypeError('x is undefined')).isAway, false)
})

test('an endless answer is read as far as its bound', async (t) => {
  let sent = 0
  const endless = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull(controller) {
        sent += 1_048_576
        controller.enqueue(new Uint8Array(1_048_576).fill(0x20))
      },
    })
  answering(t, {
    '/good': () => new Response(endless()),
    '/bad': () => new Response(endless(), { status: 500 }),
  })
  assert.equal((await faultOf('/good')).facts.reason, 'TooLarge')
  assert.ok(sent < 2 * requestLimits.answerCharsMax, `${sent} bytes`)
  sent = 0
  assert.equal((await faultOf('/bad')).facts.code, 500)
  assert.ok(sent < 8 * 1_048_576, `${sent} bytes`)
})

test('an answer shows the marks that turn letters around, and keeps them for an editor', async (t) => {
  const spoof = 'invoice\u202egnp.exe'
  const status = { kind: 'Status', message: spoof, code: 500 }
  answering(t, {
    '/page': () => Response.json({ [spoof]: spoof }),
    '/broken': () => Response.json(status, { status: 500 }),
  })
  const shown = spoof.replace('\u202e', '\ufffd')
  assert.deepEqual(await askJson('/page'), { [shown]: shown })
  assert.deepEqual(await askJson('/page', { isExact: true }), { [spoof]: spoof })
  assert.equal((await faultOf('/broken')).message, shown)
})
