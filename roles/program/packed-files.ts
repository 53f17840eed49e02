import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { exists } from '../runtime/files.ts'

/** A file as machines fetch it. */
export interface PackedFile {
  readonly path: string
  readonly bytes: number
  /** The hash of these bytes, in hexadecimal digits. */
  readonly sha256: string
}

/**
 * Returns the file compressed, at `path`. One that is there is taken as it is: its name is made of the content of
 * the source. The engine shrinks from 150 MB to 60 MB in two seconds; the best level saves 10 MB in twenty.
 */
export async function packedFile(
  source: string,
  path: string,
  signal: AbortSignal,
): Promise<PackedFile> {
  if (!(await exists(path))) await pack(source, path, signal)
  const { size } = await stat(path)
  return { path, bytes: size, sha256: await sha256Of(path, signal) }
}

async function pack(source: string, path: string, signal: AbortSignal): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const part = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const gzip = createGzip({ level: constants.Z_BEST_SPEED })
    await pipeline(createReadStream(source), gzip, createWriteStream(part, { flush: true }), {
      signal,
    })
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash, { signal })
  return hash.digest('hex')
}
