import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { linkHeadBytes, type LinkListener, type TunnelLink } from '../frame/tunnel-link.ts'
import { behindHead } from '../web-socket/web-socket-endpoint.ts'

export interface LinkSubject extends AsyncDisposable {
  /** Two ends of one link; every test speaks from the near one. */
  readonly near: TunnelLink
  readonly far: TunnelLink
}

/** Opens a fresh link for each test. Its two ends may be of different kinds. */
export type OpenLink = () => Promise<LinkSubject>

/** Lists what a tunnel relies on in every link, whichever end it is. */
export function linkContract(name: string, open: OpenLink): void {
  describe(`link contract: ${name}`, () => {
    messageTests(open)
    endTests(open)
  })
}

const sizes = [1, 125, 126, 65_535, 65_536, 1_000_000 - linkHeadBytes]

function messageTests(open: OpenLink): void {
  test('messages of all sizes arrive whole and in order, and both ends count their bytes', async () => {
    await using subject = await open()
    const { near, far } = subject
    const inbox = receive(far)
    for (const [at, size] of sizes.entries()) await sent(near, Buffer.alloc(size, at + 1))
    for (const [at, size] of sizes.entries()) {
      assert.deepEqual(await inbox.next(), Buffer.alloc(size, at + 1))
    }
    const total = sizes.reduce((sum, size) => sum + size, 0)
    assert.equal(near.bytesOut, total)
    assert.equal(far.bytesIn, total)
    assert.ok(far.bytesHeard >= total)
    assert.deepEqual([near.bytesIn, far.bytesOut], [0, 0])
  })

  test('nothing that arrives before there is a receiver is lost', async () => {
    await using subject = await open()
    const { near, far } = subject
    await sent(near, Buffer.from('early'))
    const inbox = receive(far)
    await sent(near, Buffer.from('late'))
    assert.deepEqual([String(await inbox.next()), String(await inbox.next())], ['early', 'late'])
  })

  test('the memory of a message is the sender’s again once it is sent', async () => {
    await using subject = await open()
    const { near, far } = subject
    const inbox = receive(far)
    const memory = behindHead(Buffer.from('first'))
    for (const word of ['first', 'other']) {
      memory.write(word, linkHeadBytes)
      await new Promise<void>((resolve) => near.send(memory, resolve))
    }
    assert.deepEqual([String(await inbox.next()), String(await inbox.next())], ['first', 'other'])
  })

  test('a ping is answered with its payload, and both ends hear of it', async () => {
    await using subject = await open()
    const { near, far } = subject
    const heard: string[] = []
    const ponged = Promise.withResolvers<string>()
    far.listen(listener({ onPing: (payload) => heard.push(`far ${payload}`) }))
    near.listen(listener({ onHeard: () => heard.push('near'), onPong: ponged.resolve }))
    receive(near)
    receive(far)
    near.ping('12:34')
    assert.equal(await ponged.promise, '12:34')
    assert.deepEqual(heard, ['far 12:34', 'near'])
  })

  test('both ends know the same features', async () => {
    await using subject = await open()
    const { near, far } = subject
    assert.deepEqual([...(near.features ?? [])], [...(far.features ?? [])])
  })
}

function endTests(open: OpenLink): void {
  test('a close comes after the messages before it, and gives the other end the reason', async () => {
    await using subject = await open()
    const { near, far } = subject
    const inbox = receive(far)
    receive(near)
    near.send(behindHead(Buffer.from('last words')), () => undefined)
    near.close('the hub drains')
    assert.equal(await far.closed, 'the hub drains')
    assert.equal(String(await inbox.next()), 'last words')
    assert.equal(typeof (await near.closed), 'string')
  })

  test('an end that is terminated ends the other one, and sends nothing any more', async () => {
    await using subject = await open()
    const { near, far } = subject
    let isHeard = false
    far.receive(() => (isHeard = true))
    receive(near)
    near.terminate()
    near.send(behindHead(Buffer.from('too late')), () => undefined)
    assert.equal(typeof (await near.closed), 'string')
    assert.match(await far.closed, /\w/)
    assert.equal(isHeard, false)
    assert.equal(far.brokenRule, undefined)
  })

  test('a sender after the end still gets its memory back', async () => {
    await using subject = await open()
    const { near, far } = subject
    receive(near)
    receive(far)
    far.terminate()
    await near.closed
    await sent(near, Buffer.from('nobody reads this'))
  })
}

function sent(link: TunnelLink, message: Buffer): Promise<void> {
  return new Promise((resolve) => link.send(behindHead(message), resolve))
}

/** Joins pieces to messages. */
function receive(link: TunnelLink): { next(): Promise<Buffer> } {
  const messages: Buffer[] = []
  let parts: Buffer[] = []
  let wake = Promise.withResolvers<void>()
  link.receive((piece, isLast) => {
    parts.push(Buffer.from(piece))
    if (!isLast) return
    messages.push(Buffer.concat(parts))
    parts = []
    wake.resolve()
  })
  return {
    async next() {
      for (;;) {
        const message = messages.shift()
        if (message !== undefined) return message
        wake = Promise.withResolvers<void>()
        await wake.promise
      }
    },
  }
}

function listener(some: Partial<LinkListener>): LinkListener {
  return { onHeard: () => undefined, onPong: () => undefined, ...some }
}
