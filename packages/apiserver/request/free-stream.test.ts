import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import { test } from 'node:test'
import { startTestApiServer } from '@skerry/testing'

const watch = '/api/v1/namespaces/default/configmaps?watch=true'

test('a browser whose connection runs out of streams is refused another watch, and still reads', async () => {
  await using server = await startTestApiServer({ limits: { browserStreamsMax: 3 } })
  const session = http2.connect(server.url, server.credentials)
  const ask = async (path: string, headers: Record<string, string>) => {
    const stream = session.request({ ':path': path, ...headers })
    // The listener of `response` gets the head first.
    const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
    return { stream, status: head[':status'] }
  }
  const browser = { 'sec-fetch-mode': 'cors' }
  const open = []
  for (let at = 0; at < 3; at += 1) open.push(await ask(watch, browser))
  assert.deepEqual(
    open.map(({ status }) => status),
    [200, 200, 200],
  )
  const refused = await ask(watch, browser)
  assert.equal(refused.status, 429)
  const body: { message: string } = JSON.parse((await refused.stream.toArray()).join(''))
  assert.match(body.message, /3 requests are open on this connection.*limit for a browser/)
  const read = await ask('/version', browser)
  assert.equal(read.status, 200)
  read.stream.resume()
  const other = await ask(watch, {})
  assert.equal(other.status, 200, 'a program may go on to the limit of the protocol')
  for (const { stream } of [...open.slice(1), other]) stream.close()
  await once(open[2]?.stream ?? other.stream, 'close')
  const again = await ask(watch, browser)
  assert.equal(again.status, 200)
  session.destroy()
})
