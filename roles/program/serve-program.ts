import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { StatusError } from '@skerry/api'
import type { ApiAnswer, AuthorizedRequest } from '@skerry/apiserver'
import { asError, isDiskFull, messageOf, whenAborted, type Logger } from '@skerry/base'
import { byteRange, type ByteRange } from './byte-range.ts'
import type { Download, Downloads } from './downloads.ts'
import { NoProgramError } from './held-programs.ts'
import { programBounds } from './limits-table.ts'
import type { PackedFile } from './packed-files.ts'
import { scriptPath, sha256OfPath } from './program-paths.ts'
import type { ServedProgram } from './served-program.ts'

const { pieceBytes } = programBounds.programRoute

/** A file that never changes under its hash. */
export interface ServedFile extends PackedFile {
  /** The media type. */
  readonly type: string
}

export interface ProgramServing {
  readonly downloads: Downloads
  readonly program: () => Promise<ServedProgram>
  readonly log: Logger
}

/** Answers with the script or one of the files. The route imports it when the first machine asks. */
export async function serveProgram(
  admitted: AuthorizedRequest,
  serving: ProgramServing,
): Promise<ApiAnswer> {
  const { request, info } = admitted
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new StatusError('MethodNotAllowed', 'Cannot write the program: use GET')
  }
  const sha256 = sha256OfPath(info.path)
  if (info.path !== scriptPath && sha256 === undefined) throw notFound()
  const program = await packedProgram(serving)
  if (sha256 === undefined) return scriptAnswer(program.script)
  const file = program.files.get(sha256)
  if (file === undefined) throw notFound()
  return fileAnswer({ ...file, type: 'application/gzip' }, admitted, serving.downloads)
}

function notFound(): StatusError {
  const text =
    'Cannot find this file of the program: the program may be another one since the line was made'
  return new StatusError('NotFound', text)
}

/** Resolves with the program, or rejects with ServiceUnavailable and the reason. */
export async function packedProgram({ program, log }: ProgramServing): Promise<ServedProgram> {
  try {
    return await program()
  } catch (error) {
    if (error instanceof NoProgramError) {
      throw new StatusError('ServiceUnavailable', `Cannot give the program: ${error.message}`)
    }
    log.error('Program was not packed', { error: asError(error) })
    const why = isDiskFull(error) ? 'the disk is full' : messageOf(error)
    throw new StatusError('ServiceUnavailable', `Cannot give the program: ${why}`)
  }
}

const plainHeaders = Object.freeze({ 'x-content-type-options': 'nosniff' })

export function scriptAnswer(script: Uint8Array): ApiAnswer {
  const etag = `"${createHash('sha256').update(script).digest('hex')}"`
  const type = 'text/x-shellscript; charset=utf-8'
  return {
    status: 200,
    headers: { ...plainHeaders, 'content-type': type, etag, 'cache-control': 'no-cache' },
    body: script,
  }
}

/** A file never changes under its name, so the part that a reader has stays right, whatever it says of its time. */
export function fileAnswer(
  file: ServedFile,
  { request }: AuthorizedRequest,
  downloads: Downloads,
): ApiAnswer {
  const { bytes, sha256, type } = file
  const headers = {
    ...plainHeaders,
    'content-type': type,
    'accept-ranges': 'bytes',
    'cache-control': 'public, max-age=31536000, immutable',
    etag: `"${sha256}"`,
  }
  const asked = byteRange(rangeOf(request.headers, sha256), bytes)
  if (asked === 'none') {
    const range = { 'content-range': `bytes */${bytes}` }
    return { status: 416, headers: { ...headers, ...range }, body: new Uint8Array(0) }
  }
  const { start, end } = asked ?? { start: 0, end: bytes }
  const part: Record<string, string> = asked
    ? { 'content-range': `bytes ${start}-${end - 1}/${bytes}` }
    : {}
  const answer = {
    status: asked ? 206 : 200,
    headers: { ...headers, ...part, 'content-length': String(end - start) },
  }
  // A list without pieces, since the length of bytes would become that of the answer.
  if (request.method === 'HEAD') return { ...answer, body: [] }
  const address = request.peer.type === 'socket' ? request.peer.address : ''
  const download = downloads.begin(address, () => request.abort?.(readerIsSlow))
  // The answer of a caller who has left is never read.
  whenAborted(request.signal, () => download[Symbol.dispose]())
  return { ...answer, body: pieces(file, { start, end }, { download, signal: request.signal }) }
}

const readerIsSlow = Object.freeze(new Error('The reader of a download took too little'))

/** Returns the Range field, unless it is for another file (RFC 9110, section 13.1.5). */
function rangeOf(
  { range, 'if-range': condition }: Readonly<Record<string, string>>,
  sha256: string,
): string | undefined {
  const isOther =
    condition !== undefined && /^(W\/)?"/.test(condition) && condition !== `"${sha256}"`
  return isOther ? undefined : range
}

/** Nobody may lead a path to another file, or to a pipe, since it was found. */
const readOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

async function* pieces(
  { path }: PackedFile,
  { start, end }: ByteRange,
  { download, signal }: { readonly download: Download; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  using _running = download
  await using file = await open(path, readOnly)
  for (let at = start; at < end;) {
    signal.throwIfAborted()
    const length = Math.min(pieceBytes, end - at)
    // A buffer of its own: the one before may wait for the reader.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at)
    if (bytesRead === 0) throw new Error(`Cannot read ${path}: it is shorter than it was`)
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
    download.onPiece()
  }
}
