import { open, rm, stat, rename } from 'node:fs/promises'
import { ExpectedError, exitCodes, linkedSignal, messageOf, type Clock } from '@skerry/base'
import { readBody, statusErrorOf, type Transport } from '@skerry/client'
import { checkBlobs, placesIn, type BlobRef } from '@skerry/offline-package'
import { dirname } from 'node:path'
import { codeOf } from '../../runtime/data-directory.ts'
import { machineBounds } from '../limits-table.ts'

const { triesMax, pauseMs, pauseMsMax, silentMsMax, refusalBytesMax } = machineBounds.fetchFile

/** A server that this machine trusts, asked with the token of a line. */
export interface PackageServer {
  /** Its URL, for messages. */
  readonly server: string
  readonly transport: Transport
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** The server has no such file. */
export class NotThereError extends ExpectedError {
  constructor(message: string) {
    super(message, exitCodes.failure)
    this.name = 'NotThereError'
  }
}

/** Reads a small answer. Rejects with a NotThereError for 404, and with an ExpectedError if the server keeps failing. */
export async function readSmall(
  path: string,
  bytesMax: number,
  from: PackageServer,
): Promise<Buffer> {
  let body: Buffer | undefined
  await patiently(path, from, async (signal) => {
    const { status, headers, body: pieces } = await get(path, {}, from, signal)
    if (status !== 200) throw await refusalOf({ status, headers, body: pieces })
    body = await readBody(pieces, bytesMax)
    return 'done'
  })
  return body ?? Buffer.alloc(0)
}

/**
 * Fetches a file to a path whose last part is its SHA-256, where it appears only with the right content. It takes no more
 * bytes than the file has, whatever the server sends; a download that broke off continues, also in another process.
 * Rejects with a NotThereError for 404, and with an ExpectedError if the server keeps failing or sends something else.
 */
export async function fetchFile(
  path: string,
  { file, target }: { readonly file: BlobRef; readonly target: string },
  from: PackageServer,
): Promise<void> {
  const part = `${target}.part`
  const began = await sizeOf(part)
  if (began > file.bytes) await rm(part)
  await patiently(path, from, async (signal, rearm) => {
    const had = await sizeOf(part)
    if (had > 0 && had === file.bytes) return 'done'
    await fetchRest(path, { part, had, bytes: file.bytes, rearm }, from, signal)
    const has = await sizeOf(part)
    return has === file.bytes ? 'done' : has > had ? 'further' : 'stuck'
  })
  await rename(part, target)
  if (await isWhole(target, file, from.signal)) return
  await rm(target)
  // A power cut leaves a part whose end has other content than what was fetched.
  if (began > 0) return fetchFile(path, { file, target }, from)
  const text = `Cannot use file ${file.sha256} of the package: ${from.server} sent another one, and it was not used; somebody has changed it there`
  throw new ExpectedError(text, exitCodes.failure)
}

/** Returns whether a file is there, in a directory by digest, with the length and the content of its digest. */
export async function isWhole(path: string, file: BlobRef, signal: AbortSignal): Promise<boolean> {
  const places = { ...placesIn(dirname(path)), blobs: dirname(path) }
  try {
    await checkBlobs({ places }, [file], signal)
    return true
  } catch (error) {
    if (error instanceof ExpectedError) return false
    throw error
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0
    throw error
  }
}

interface Rest {
  readonly part: string
  /** The bytes that are there. */
  readonly had: number
  readonly bytes: number
  /** Called when data has come. */
  readonly rearm: () => void
}

async function fetchRest(
  path: string,
  { part, had, bytes, rearm }: Rest,
  from: PackageServer,
  signal: AbortSignal,
): Promise<void> {
  const range: Record<string, string> = had === 0 ? {} : { range: `bytes=${had}-` }
  const answer = await get(path, range, from, signal)
  if (answer.status !== 200 && answer.status !== 206) throw await refusalOf(answer)
  const start = answer.status === 200 ? 0 : had
  if (answer.status === 206 && !answer.headers['content-range']?.startsWith(`bytes ${had}-`)) {
    throw new Error(`it answers bytes ${had}- with ${answer.headers['content-range'] ?? 'others'}`)
  }
  await using file = await open(part, start === 0 ? 'w' : 'a', 0o600)
  let left = bytes - start
  for await (const piece of answer.body) {
    rearm()
    await file.writeFile(piece.subarray(0, left))
    left -= piece.byteLength
    if (left <= 0) return
  }
}

function get(
  path: string,
  headers: Readonly<Record<string, string>>,
  { transport }: PackageServer,
  signal: AbortSignal,
): ReturnType<Transport['send']> {
  return transport.send({ method: 'GET', path, headers }, signal)
}

async function refusalOf(answer: Awaited<ReturnType<Transport['send']>>): Promise<Error> {
  const text = (await readBody(answer.body, refusalBytesMax)).toString('utf8')
  const error = statusErrorOf(answer, text)
  if (answer.status === 404) return new NotThereError(error.message)
  if (answer.status !== 401 && answer.status !== 403) return error
  const why = `it refuses the token of the line (${error.message.slice(0, 300)}): make a new line there`
  return new ExpectedError(why, exitCodes.usage)
}

type Progress = 'done' | 'further' | 'stuck'

/** Tries until it is done, more and more rarely while nothing comes. A server that is silent counts as gone. */
async function patiently(
  path: string,
  { server, clock, signal }: PackageServer,
  once: (signal: AbortSignal, rearm: () => void) => Promise<Progress>,
): Promise<void> {
  for (let tries = 0; ;) {
    let why = 'the connection ended'
    let progress: Progress = 'stuck'
    try {
      progress = await unlessSilent(clock, signal, once)
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof NotThereError) throw error
      if (error instanceof ExpectedError) throw failed(path, server, error)
      why = messageOf(error)
    }
    if (progress === 'done') return
    tries = progress === 'further' ? 0 : tries + 1
    if (tries >= triesMax) throw failed(path, server, new Error(`${why}; try again`))
    await clock.sleep(Math.min(tries * pauseMs, pauseMsMax), signal)
  }
}

async function unlessSilent<T>(
  clock: Clock,
  parent: AbortSignal,
  act: (signal: AbortSignal, rearm: () => void) => Promise<T>,
): Promise<T> {
  using scope = linkedSignal(parent)
  const silent = (): void =>
    scope.abort(new Error(`it has sent nothing for ${silentMsMax / 1_000} s`))
  let timer = clock.setTimer(silentMsMax, silent)
  try {
    return await act(scope.signal, () => {
      timer[Symbol.dispose]()
      timer = clock.setTimer(silentMsMax, silent)
    })
  } finally {
    timer[Symbol.dispose]()
  }
}

function failed(path: string, server: string, error: Error): ExpectedError {
  const text = `Cannot fetch ${path} from ${server}: ${error.message}`
  return new ExpectedError(text, exitCodes.unreachable, { cause: error })
}
