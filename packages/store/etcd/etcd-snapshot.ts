import { open, rm } from 'node:fs/promises'
import { asError, ExpectedError, exitCodes, isDiskFull, diskFullError } from '@skerry/base'
import { storeBounds } from '../limits-table.ts'
import { StoreUnavailableError } from '../store-errors.ts'
import { EtcdChannel, EtcdError, type EtcdEndpoints } from './etcd-channel.ts'
import type { EtcdStoreDeps } from './etcd-store.ts'
import type { WireHeader } from './etcd-schema-table.ts'

const { silentMs } = storeBounds.etcdSnapshot

/**
 * Saves a snapshot of one member, as `etcdctl snapshot save` does, and makes the file durable. Resolves to a revision
 * that is in it: all writes that were acknowledged before the call are. The caller checks the file. Throws
 * ExpectedError if etcd does not answer or refuses, or the disk is full; then there is no file.
 */
export async function saveEtcdSnapshot(
  path: string,
  endpoints: EtcdEndpoints,
  { clock }: Pick<EtcdStoreDeps, 'clock'>,
  signal: AbortSignal,
): Promise<{ revision: number }> {
  using channel = new EtcdChannel(endpoints, clock)
  let isSaved = false
  try {
    // A linearizable read: the member that answers has everything up to here, and gives the snapshot as well.
    const range = { key: Buffer.from('/'), countOnly: true }
    const { header } = await channel.read<{ header: WireHeader }>('Range', range, signal)
    const answers = await channel.answers('Snapshot', {}, signal)
    const silence = { timer: clock.setTimer(silentMs, () => answers.cancel()) }
    const onAbort = (): void => answers.cancel()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await rm(path, { force: true })
      await using file = await open(path, 'wx', 0o600)
      for await (const message of answers) {
        silence.timer[Symbol.dispose]()
        silence.timer = clock.setTimer(silentMs, () => answers.cancel())
        // The schema table decodes this.
        await file.writeFile((message as { blob: Uint8Array }).blob)
      }
      await file.sync()
      isSaved = true
    } finally {
      silence.timer[Symbol.dispose]()
      signal.removeEventListener('abort', onAbort)
    }
    return { revision: header.revision }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw explained(path, error)
  } finally {
    if (!isSaved) await rm(path, { force: true })
  }
}

function explained(path: string, error: unknown): unknown {
  if (isDiskFull(error)) return diskFullError(`write ${path}`, error)
  const isGrpc = error instanceof Error && 'details' in error
  const isEtcd = error instanceof EtcdError || error instanceof StoreUnavailableError
  if (!isGrpc && !isEtcd) return error
  const text = `Cannot save a snapshot of etcd: ${asError(error).message}`
  const remedy = 'check --etcd-servers and the etcd certificate options'
  return new ExpectedError(`${text}; ${remedy}`, exitCodes.unreachable, { cause: error })
}
