import { open, readdir, type FileHandle } from 'node:fs/promises'
import { createReadStream } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createGunzip } from 'node:zlib'
import type { Clock } from '@skerry/base'
import { parseLogLine, type LogLine } from '../pods/log-line.ts'
import { exists } from '../system-error.ts'
import { kubeletBounds } from '../limits-table.ts'

/** The checked core/v1 PodLogOptions. */
export interface LogOptions {
  follow: boolean
  timestamps: boolean
  /** The number of lines from the end; undefined for all. */
  tailLines: number | undefined
  limitBytes: number | undefined
  /** Skips older lines; milliseconds since the Unix epoch. */
  sinceMs: number | undefined
}

export interface LogSource {
  /** The container's current log file. */
  path: string
  /** False once the container has ended: a follower reads to the end and leaves. */
  isRunning: () => boolean
}

const { chunkBytes, followMs, lineBytesMax } = kubeletBounds.readLog

/**
 * Yields the log as text, including rotated files, oldest first; ends by itself, or at the end of the
 * container if followed.
 */
export async function* readLog(
  source: LogSource,
  options: LogOptions,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytesLeft = options.limitBytes ?? Infinity
  const wanted = (line: LogLine): boolean =>
    options.sinceMs === undefined || Date.parse(line.time) >= options.sinceMs
  const emit = (line: LogLine): Buffer => {
    const text = options.timestamps ? `${line.time} ${line.text}` : line.text
    const bytes = Buffer.from(text).subarray(0, bytesLeft)
    bytesLeft -= bytes.length
    return bytes
  }
  const history = await readHistory(source.path, options, wanted)
  for (const line of history.lines) {
    if (bytesLeft <= 0) return
    yield emit(line)
  }
  if (!options.follow) return
  for await (const line of follow(source, history.position, { clock, signal })) {
    if (!wanted(line)) continue
    if (bytesLeft <= 0) return
    yield emit(line)
  }
}

/** The place where a follower continues: this many bytes of the file with this inode were read. */
interface Position {
  inode: number
  bytes: number
}

async function readHistory(
  path: string,
  options: LogOptions,
  wanted: (line: LogLine) => boolean,
): Promise<{ lines: LogLine[]; position: Position }> {
  const lines: LogLine[] = []
  const position: Position = { inode: 0, bytes: 0 }
  const keep = (line: LogLine): void => {
    if (!wanted(line)) return
    lines.push(line)
    // The buffer may hold twice the tail, so that a long log costs one cut per tail and not per line.
    const tail = options.tailLines
    if (tail !== undefined && lines.length > 2 * tail + 100) lines.splice(0, lines.length - tail)
  }
  for (const file of await rotatedFiles(path)) {
    for await (const line of readWhole(file)) keep(line)
  }
  await using file = await openLog(path)
  if (file !== undefined) {
    position.inode = (await file.stat()).ino
    for await (const line of readLines(file, position)) keep(line)
  }
  const cut =
    options.tailLines === undefined
      ? lines
      : lines.slice(Math.max(0, lines.length - options.tailLines))
  return { lines: cut, position }
}

/** Returns older parts, oldest first: their names end in the time of rotation. */
export async function rotatedFiles(path: string): Promise<string[]> {
  const directory = dirname(path)
  if (!(await exists(directory))) return []
  const prefix = `${basename(path)}.`
  const names = (await readdir(directory)).filter(
    (name) => name.startsWith(prefix) && !name.endsWith('.tmp'),
  )
  return names.toSorted().map((name) => join(directory, name))
}

async function* readWhole(path: string): AsyncGenerator<LogLine> {
  const raw = createReadStream(path)
  const stream = path.endsWith('.gz') ? raw.pipe(createGunzip()) : raw
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) continue
    const split = splitLines(Buffer.concat([rest, chunk]))
    rest = split.rest
    yield* split.lines
  }
}

async function openLog(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Yields complete lines from the position on; moves the position past them. */
async function* readLines(file: FileHandle, position: Position): AsyncGenerator<LogLine> {
  let buffer: Buffer = Buffer.alloc(0)
  for (;;) {
    const chunk = Buffer.alloc(chunkBytes)
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, position.bytes + buffer.length)
    if (bytesRead === 0) return
    buffer = Buffer.concat([buffer, chunk.subarray(0, bytesRead)])
    const { lines, rest } = splitLines(buffer)
    position.bytes += buffer.length - rest.length
    buffer = rest.length > lineBytesMax ? Buffer.alloc(0) : rest
    yield* lines
  }
}

function splitLines(bytes: Buffer): { lines: LogLine[]; rest: Buffer } {
  const lines: LogLine[] = []
  let start = 0
  for (let end = bytes.indexOf(10, start); end !== -1; end = bytes.indexOf(10, start)) {
    const line = parseLogLine(bytes.toString('utf8', start, end))
    if (line !== undefined) lines.push(line)
    start = end + 1
  }
  return { lines, rest: bytes.subarray(start) }
}

async function* follow(
  source: LogSource,
  position: Position,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<LogLine> {
  for (;;) {
    // This is checked before reading, so that a container's last output is read once it has ended.
    const wasRunning = source.isRunning()
    await using file = await openLog(source.path)
    if (file !== undefined) {
      const { ino } = await file.stat()
      // After a rotation, the old file has been read to its end, because its rename follows the runtime's
      // reopening.
      if (ino !== position.inode) Object.assign(position, { inode: ino, bytes: 0 })
      yield* readLines(file, position)
    }
    if (!wasRunning) return
    await clock.sleep(followMs, signal)
  }
}
