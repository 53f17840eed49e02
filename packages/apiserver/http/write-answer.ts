import { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { asError, whenAborted, type Logger } from '@skerry/base'
import { isPushed, type AnswerBody, type ReaderOf } from '../contract/exchange.ts'
import { PacedOutput, type OutputDeps } from './paced-output.ts'
import { pushBody } from './push-body.ts'
import { apiServerBounds } from '../limits-table.ts'

export interface WriteDeps extends OutputDeps {
  readonly log: Logger
  /** The reader. If omitted, the reader is not known. */
  readonly reader?: ReaderOf | undefined
  /** If it aborts while the reader takes nothing, the answer is cut off. */
  readonly signal?: AbortSignal
  /** Called once a body of pieces is written. */
  readonly beforeEnd?: () => void
}

/** Writes the body at the reader's pace. Never rejects: a reader that went away is not an error. */
export async function writeAnswer(body: AnswerBody, out: Writable, deps: WriteDeps): Promise<void> {
  // HTTP/2 ends a stream by itself if the status or method allows no body.
  if (out.writableEnded) return
  if (body instanceof Uint8Array && body.length <= deps.limits.firstPieceBytes) {
    endWith(body, out)
    return
  }
  try {
    if (isPushed(body)) return await pushBody(body, out, deps)
    using output = new PacedOutput(out, out, deps, deps.reader)
    if (body instanceof Uint8Array) {
      if (!(await written(output, out, body, deps.signal))) return
    } else if (Symbol.asyncIterator in body) {
      for await (const part of body) if (!(await written(output, out, part, deps.signal))) return
    } else {
      for (const part of body) if (!(await written(output, out, part, deps.signal))) return
    }
    deps.beforeEnd?.()
    out.end()
  } catch (error) {
    // The status is already sent, so only cutting the stream shows that the answer is incomplete.
    if (!out.destroyed) {
      deps.log.error('Answer broke off', { error: asError(error) })
    }
    out.destroy()
  }
}

/** Node joins a text to the head of an HTTP/1.1 answer, but writes other bytes separately. */
function endWith(body: Uint8Array, out: Writable): void {
  const isJoined = out instanceof ServerResponse && body.length <= joinedBytesMax
  if (isJoined) out.end(viewOf(body).toString('latin1'), 'latin1')
  else out.end(body)
}

function viewOf(body: Uint8Array): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.length)
}

const { joinedBytesMax } = apiServerBounds.writeAnswer

/** Resolves to false if the reader is gone. */
async function written(
  output: PacedOutput,
  out: Writable,
  part: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (out.destroyed || out.writableEnded) return false
  if (output.write(part)) return true
  return new Promise((resolve) => {
    const onClose = (): void => settle(false)
    const onAbort = (): void => void out.destroy()
    const settle = (isOpen: boolean): void => {
      output.onDrain = () => undefined
      out.removeListener('close', onClose)
      signal?.removeEventListener('abort', onAbort)
      resolve(isOpen)
    }
    output.onDrain = () => settle(true)
    out.on('close', onClose)
    if (signal) whenAborted(signal, onAbort)
    if (out.destroyed) onClose()
  })
}
