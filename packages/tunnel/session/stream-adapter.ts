import { Duplex, Readable } from 'node:stream'
import { resetCodes } from '../frame/tunnel-frame.ts'
import {
  isPushing,
  TunnelStreamError,
  type PieceSink,
  type PushedPieces,
  type TunnelBody,
} from '../frame/tunnel-message.ts'
import type { TunnelStream } from './tunnel-stream.ts'
import { tunnelBounds } from '../limits-table.ts'

/** Returns the reason why a stream broke off, for its reader. */
export type ExplainCut = () => Error

const { readableHighWaterMark } = tunnelBounds.streamAdapter

/** The bytes that the other end sends. Destroying it before their end cancels the stream. */
export function readableOf(source: TunnelStream, explain: ExplainCut = cut): Readable {
  const feed = createFeed(source, explain)
  const target: Readable = new Readable({
    highWaterMark: readableHighWaterMark,
    read: feed.pull,
    destroy: (error, done) => {
      // An ordinary stream destroys itself after its end, too.
      if (!target.readableEnded) source.stopReading()
      done(error)
    },
  })
  feed.start(target)
  return target
}

/** Both directions; each ends on its own. */
export function duplexOf(source: TunnelStream, explain: ExplainCut = cut): Duplex {
  const feed = createFeed(source, explain)
  const target: Duplex = new Duplex({
    allowHalfOpen: true,
    readableHighWaterMark,
    read: feed.pull,
    write: (chunk: Uint8Array, _encoding, done) => {
      if (source.write(chunk)) return done()
      source.onDrain = () => {
        source.onDrain = undefined
        done()
      }
    },
    final: (done) => {
      source.end()
      done()
    },
    destroy: (error, done) => {
      if (!target.readableEnded || !target.writableFinished) source.reset(resetCodes.cancel)
      done(error)
    },
  })
  feed.start(target)
  return target
}

function cut(): Error {
  return new TunnelStreamError('Cannot go on: the stream was cut')
}

interface Feed {
  pull: () => void
  start(target: Readable): void
}

function createFeed(source: TunnelStream, explain: ExplainCut): Feed {
  let target: Readable | undefined
  let isWanted = false
  const move = (): void => {
    while (isWanted) {
      if (source.isReadToEnd) {
        isWanted = false
        target?.push(null)
        return
      }
      const chunk = source.read()
      if (chunk === undefined) return
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
      // A reader gets the error; without one it must not end the process.
      to.on('error', ignore)
      source.onReadable = move
      source.whenOver(() => {
        if (source.isCut) to.destroy(explain())
      })
    },
  }
}

/**
 * Sends a body and its end. Rejects when it breaks off before that; what then has become of the
 * stream is the caller's business. When the stream is over first, the body is destroyed.
 */
export function sendBody(body: TunnelBody, stream: TunnelStream): Promise<void> {
  if (body instanceof Readable) return sendReadable(body, stream)
  return isPushing(body) ? sendPushed(body, stream) : sendPieces(body, stream)
}

/** Its source learns from the signal of the request that the stream is cut. */
function sendPushed(body: PushedPieces, stream: TunnelStream): Promise<void> {
  return new Promise((resolve) => {
    const sink: PieceSink = {
      onDrain: () => undefined,
      write(parts) {
        let takesMore = true
        for (const part of parts) takesMore = stream.write(part)
        return takesMore
      },
      end() {
        stream.end()
        resolve()
      },
    }
    stream.onDrain = () => sink.onDrain()
    stream.whenOver(resolve)
    body.pushTo(sink)
  })
}

function sendReadable(body: Readable, stream: TunnelStream): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.onDrain = () => body.resume()
    stream.whenOver(() => {
      body.destroy()
      resolve()
    })
    body.once('error', reject)
    body.once('close', () => {
      if (!body.readableEnded) reject(new TunnelStreamError('Cannot go on: it broke off'))
    })
    if (body.destroyed) return reject(new TunnelStreamError('Cannot go on: it broke off'))
    body.on('data', (chunk: Uint8Array) => {
      if (!stream.write(chunk)) body.pause()
    })
    body.once('end', () => {
      stream.end()
      resolve()
    })
  })
}

async function sendPieces(body: TunnelBody, stream: TunnelStream): Promise<void> {
  const pieces = body[Symbol.asyncIterator]()
  // A piece may never come, so the producer is ended when nobody needs it any more.
  stream.whenOver(() => void pieces.return?.().catch(ignore))
  for (;;) {
    const { done, value } = await pieces.next()
    if (stream.isOver) return
    if (done) return stream.end()
    if (!stream.write(value)) await drained(stream)
  }
}

function drained(stream: TunnelStream): Promise<void> {
  return new Promise((resolve) => {
    stream.onDrain = () => {
      stream.onDrain = undefined
      resolve()
    }
  })
}

function ignore(): void {}
