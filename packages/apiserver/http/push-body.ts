import { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import type { BodySink, PushedBody, ReaderOf } from '../contract/exchange.ts'
import { PacedOutput, type OutputDeps } from './paced-output.ts'
import { apiServerBounds } from '../limits-table.ts'

/** Resolves when the body ends or the reader is gone. */
export function pushBody(
  body: PushedBody,
  out: Writable,
  deps: OutputDeps & { readonly reader?: ReaderOf | undefined },
): Promise<void> {
  return new Promise((resolve) => {
    const socket = chunkedSocket(out)
    const target = socket ?? out
    const frame = socket ? chunkOf : joined
    const output = new PacedOutput(target, out, deps, deps.reader)
    const sink: BodySink = {
      onDrain: () => undefined,
      write: (parts) => output.write(frame(parts)),
      end() {
        output[Symbol.dispose]()
        if (!out.destroyed) out.end()
        resolve()
      },
    }
    output.onDrain = () => sink.onDrain()
    body.pushTo(sink)
  })
}

/**
 * Returns the connection of an HTTP/1.1 answer in chunks whose head is written. Chunks may be
 * written to it directly, so that one serves all readers. Returns undefined for anything else.
 */
function chunkedSocket(out: Writable): Writable | undefined {
  if (!(out instanceof ServerResponse) || !out.headersSent || !out.chunkedEncoding) return undefined
  // An answer that waits for its turn on the connection has no socket yet.
  return out.socket ?? undefined
}

interface Joined {
  readonly parts: readonly Uint8Array[]
  plain: Uint8Array | undefined
  chunk: Uint8Array | undefined
}

/** Keyed by the first part, because the readers of one turn mostly get the same parts. */
const lastJoined = new WeakMap<Uint8Array, Joined>()

const { sharedPartsMax } = apiServerBounds.pushBody

function entryOf(parts: readonly Uint8Array[]): Joined {
  const first = parts[0]
  const known = first && lastJoined.get(first)
  if (known && isSame(known.parts, parts)) return known
  const made: Joined = { parts, plain: undefined, chunk: undefined }
  // The initial events of a watch begin with a part that lives as long as the process, and are for
  // one reader.
  if (first && parts.length <= sharedPartsMax) lastJoined.set(first, made)
  return made
}

function isSame(one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at])
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const entry = entryOf(parts)
  entry.plain ??= parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
  return entry.plain
}

const lineEnd = Buffer.from('\r\n')

/** RFC 9112, section 7.1: the length in hexadecimal, the bytes, and the end of the line. */
function chunkOf(parts: readonly Uint8Array[]): Uint8Array {
  const entry = entryOf(parts)
  if (entry.chunk) return entry.chunk
  let bytes = 0
  for (const part of parts) bytes += part.length
  entry.chunk = Buffer.concat([Buffer.from(`${bytes.toString(16)}\r\n`), ...parts, lineEnd])
  return entry.chunk
}
