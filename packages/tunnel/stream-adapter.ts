import { constants, type Http2Stream } from 'node:http2'
import { Duplex, Readable } from 'node:stream'
import { TunnelStreamError } from './tunnel-message.ts'

/**
 * Node's Http2Stream calls itself closed while bytes wait in it, so iterating or pipelining one
 * that begins late fails with "Premature close", and an unread one may be thrown away. These
 * adapters are ordinary streams: what arrived stays readable until its end.
 */

/** Says why a stream broke off, for its reader. */
export type ExplainCut = (cause?: Error) => Error

/** The bytes that the other end sends. Destroying it cancels the stream. */
export function readableOf(source: Http2Stream, explain: ExplainCut = cut): Readable {
  const feed = createFeed(source, explain)
  const target = new Readable({ read: feed.pull, destroy: cancelling(source) })
  feed.start(target)
  return target
}

/** Both directions; each ends on its own. */
export function duplexOf(source: Http2Stream, explain: ExplainCut = cut): Duplex {
  const feed = createFeed(source, explain)
  const target = new Duplex({
    allowHalfOpen: true,
    read: feed.pull,
    write: (chunk: Uint8Array, _encoding, done) => void source.write(chunk, done),
    final: (done) => void source.end(done),
    destroy: cancelling(source),
  })
  feed.start(target)
  return target
}

function cut(cause?: Error): Error {
  return new TunnelStreamError('Cannot go on: the stream was cut', cause ? { cause } : {})
}

interface Feed {
  pull: () => void
  start(target: Readable): void
}

function createFeed(source: Http2Stream, explain: ExplainCut): Feed {
  let target: Readable | undefined
  let isWanted = false
  const move = (): void => {
    while (isWanted) {
      const chunk: unknown = source.read()
      if (chunk === null) return
      isWanted = target?.push(chunk) ?? false
    }
  }
  return {
    pull() {
      isWanted = true
      move()
    },
    start(to) {
      target = to
      // Whoever reads gets the error; without a reader it must not end the process.
      to.on('error', ignore)
      source.on('readable', move)
      source.once('end', () => {
        // A stream that is torn down ends, too; half a body must not look whole.
        const isCut = source.destroyed || source.rstCode !== constants.NGHTTP2_NO_ERROR
        if (isCut) to.destroy(explain())
        else to.push(null)
      })
      source.once('error', (error) => to.destroy(explain(error)))
      source.once('close', () => {
        if (!source.readableEnded) to.destroy(explain())
      })
    },
  }
}

function cancelling(source: Http2Stream) {
  return (error: Error | null, done: (error?: Error | null) => void): void => {
    // An ordinary stream also destroys itself after its end, when the other direction may go on.
    if (!source.closed && !source.readableEnded) source.close(constants.NGHTTP2_CANCEL)
    done(error)
  }
}

function ignore(): void {}
