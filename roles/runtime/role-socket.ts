import { chmod, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { ExpectedError, exitCodes, messageOf, type ExitCode } from '@skerry/base'
import { runtimeBounds } from './limits-table.ts'

/** The actions of a running site or hub that another process of its machine can request. */
export interface RoleRequests {
  backup(targetPath: string): Promise<BackupResult>
  /** Issues every certificate again that the authority can issue, and uses the new ones. */
  renewCertificates(): Promise<void>
}

export interface BackupResult {
  bytes: number
  revision: number
}

const { requestBytesMax } = runtimeBounds.roleSocket

/** Any other request is the absolute path of a backup. */
const renewalRequest = 'renew-certificates'

/**
 * Accepts other processes' requests to the running role. The socket has mode 0600: a process that may open it
 * may read the store's file and the keys anyway.
 */
export async function openRoleSocket(
  path: string,
  requests: RoleRequests,
): Promise<AsyncDisposable> {
  await rm(path, { force: true })
  const server = createServer({ allowHalfOpen: true }, (socket) => void serve(socket, requests))
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

async function serve(socket: Socket, requests: RoleRequests): Promise<void> {
  socket.on('error', () => socket.destroy())
  try {
    const text = await readAll(socket)
    socket.end(JSON.stringify(await answer(text, requests)))
  } catch (error) {
    const { exitCode } = error instanceof ExpectedError ? error : {}
    socket.end(JSON.stringify({ error: messageOf(error), exitCode }))
  }
}

async function answer(text: string, requests: RoleRequests): Promise<object> {
  if (text === renewalRequest) {
    await requests.renewCertificates()
    return { isRenewed: true }
  }
  if (text.startsWith('/')) return requests.backup(text)
  throw new Error(`Cannot back up to "${text}": not an absolute path`)
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Without this option the loop's end would also close the other direction, which still has to carry the
  // answer.
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
  const answered = await ask(socketPath, targetPath)
  if (answered === undefined) {
    throw new ExpectedError(
      `Cannot back up: nothing answers at ${socketPath}; start the role, or copy its store.db while it is stopped`,
      exitCodes.unreachable,
    )
  }
  if ('revision' in answered && 'bytes' in answered) {
    return { revision: Number(answered.revision), bytes: Number(answered.bytes) }
  }
  throw refusalOf(answered)
}

/** False: no role runs there. Throws ExpectedError when it does and cannot renew. */
export async function requestRenewal(socketPath: string): Promise<boolean> {
  const answered = await ask(socketPath, renewalRequest)
  if (answered === undefined || 'isRenewed' in answered) return answered !== undefined
  throw refusalOf(answered)
}

function refusalOf(answered: object): ExpectedError {
  const reason = 'error' in answered ? String(answered.error) : 'no answer'
  return new ExpectedError(
    reason,
    exitCodeOf('exitCode' in answered ? answered.exitCode : undefined),
  )
}

function exitCodeOf(value: unknown): ExitCode {
  return Object.values(exitCodes).find((code) => code === value) ?? exitCodes.failure
}

/** Resolves undefined if nothing listens. */
async function ask(socketPath: string, request: string): Promise<object | undefined> {
  const socket = connect({ path: socketPath, allowHalfOpen: true })
  const isOpen = await new Promise<boolean>((resolve, reject) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // The file of a role that was killed is still there.
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(false)
      else reject(error)
    })
  })
  if (!isOpen) return undefined
  socket.end(request)
  const answered: unknown = JSON.parse(await readAll(socket))
  return typeof answered === 'object' && answered !== null ? answered : {}
}
