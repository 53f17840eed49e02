import { mkdir } from 'node:fs/promises'
import { ExpectedError, exitCodes, isDiskFull } from '@skerry/base'
import { lockHolder, takeLock } from '../../runtime/lock-file.ts'
import type { EtcdFiles } from './embedded-options.ts'

/**
 * Takes the files of a member for this process until it is disposed or the process ends: another one that starts an etcd
 * on them would end the one that serves. Throws ExpectedError that names the process that has them.
 */
export async function ownMember(files: EtcdFiles, doing: string): Promise<AsyncDisposable> {
  await mkdir(files.root, { recursive: true, mode: 0o700 })
  try {
    return await takeLock(files.owner, (holder) => taken(files, doing, holder))
  } catch (error) {
    // A member that has its files starts with a full disk, too.
    if (error instanceof ExpectedError || !isDiskFull(error)) throw error
    return { [Symbol.asyncDispose]: async () => undefined }
  }
}

/** Throws ExpectedError if a process has the files of a member. */
export async function refuseOwned(files: EtcdFiles, doing: string): Promise<void> {
  const holder = await lockHolder(files.owner)
  if (holder !== undefined) throw taken(files, doing, holder)
}

function taken({ root }: EtcdFiles, doing: string, holder: number): ExpectedError {
  return new ExpectedError(
    `${doing}: process ${holder} runs on ${root}; stop it first`,
    exitCodes.alreadyRunning,
  )
}
