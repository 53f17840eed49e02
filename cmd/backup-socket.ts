import { chmod, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { ExpectedError, exitCodes } from '@skerry/base'

/** Only what the socket needs of a store. */
interface BackupSource {
  backup(targetPath: string): Promise<{ bytes: number; revision: number }>
}

export interface BackupResult {
  bytes: number
  revision: number
}

const requestBytesMax = 4_096

/**
 * Takes the running role's backups at another process's request. The socket is mode 0600: whoever
 * may open it may read the store's file anyway.
 */
export async function openBackupSocket(
  path: string,
  source: BackupSource,
): Promise<AsyncDisposable> {
  await rm(path, { force: true })
  const server = createServer({ allowHalfOpen: true }, (socket) => void serve(socket, source))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  await chmod(path, 0o600)
  return {
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(path, { force: true })
    },
  }
}

async function serve(socket: Socket, source: BackupSource): Promise<void> {
  socket.on('error', () => socket.destroy())
  try {
    const target = await readAll(socket)
    if (!target.startsWith('/'))
      throw new Error(`Cannot back up to "${target}": not an absolute path`)
    socket.end(JSON.stringify(await source.backup(target)))
  } catch (error) {
    socket.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }))
  }
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Else the loop's end would close the other direction, too, which has the answer yet to carry.
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > requestBytesMax)
      throw new Error(`Cannot read request: over ${requestBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Asks the role behind the socket. ExpectedError when nothing listens or the backup fails. */
export async function requestBackup(socketPath: string, targetPath: string): Promise<BackupResult> {
  const socket = connect({ path: socketPath, allowHalfOpen: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', (error) =>
      reject(
        new ExpectedError(
          `Cannot back up: nothing answers at ${socketPath}; start the role, or copy its store.db while it is stopped`,
          exitCodes.unreachable,
          { cause: error },
        ),
      ),
    )
  })
  socket.end(targetPath)
  const answer: unknown = JSON.parse(await readAll(socket))
  if (typeof answer === 'object' && answer !== null && 'revision' in answer && 'bytes' in answer) {
    return { revision: Number(answer.revision), bytes: Number(answer.bytes) }
  }
  const reason =
    typeof answer === 'object' && answer !== null && 'error' in answer
      ? String(answer.error)
      : 'no answer'
  throw new ExpectedError(reason, exitCodes.failure)
}
