import { stat } from 'node:fs/promises'
import { ExpectedError, exitCodes, type Clock, type Logger, type Random } from '@skerry/base'
import { writeSnapshot } from '@skerry/etcd-snapshot'
import { openEtcdEngine } from '../engine/etcd-engine.ts'
import { etcdServerDefaults } from '../limits-table.ts'
import { recordsOf } from './snapshot-maker.ts'

/** Writes the store of an etcd server that is stopped as a snapshot. Throws ExpectedError if it is in use. */
export async function saveStore(
  path: string,
  file: string,
  deps: { clock: Clock; log: Logger; random: Random },
  {
    signal,
    onProgress,
  }: { signal: AbortSignal; onProgress?: ((records: number) => void) | undefined },
): Promise<{ bytes: number; records: number; revision: number }> {
  await stat(path).catch((cause: unknown) => {
    const text = `Cannot read ${path}: there is no such store`
    throw new ExpectedError(text, exitCodes.dataDirectory, { cause })
  })
  const { quotaBytes } = etcdServerDefaults
  await using engine = await openEtcdEngine(path, { quotaBytes }, deps)
  return await engine.withHistory(async (history) => {
    const source = { ...history, records: recordsOf(history.rows()) }
    const written = await writeSnapshot(file, source, { hasChecksum: true, signal, onProgress })
    return { ...written, revision: history.revision }
  })
}
