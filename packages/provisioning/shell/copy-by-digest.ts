import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { messageOf } from '@skerry/base'
import { provisioningBounds } from '../limits-table.ts'
import { ShellError, type DigestedFile, type Shell } from '../contract/shell.ts'
import { openOwnFile } from './own-file.ts'
import type { RemoteFiles } from './remote-files.ts'

const bounds = provisioningBounds.shell

/** Where copies arrive, so that one that broke off continues. */
export const incoming = '/var/lib/skerry/incoming'

interface Ways {
  readonly shell: Pick<Shell, 'run'>
  readonly remote: Pick<RemoteFiles, 'continue'>
  readonly signal: AbortSignal
}

/**
 * Copies files into a directory that only root can enter, each under its digest. The machine compares all of them before
 * the first is moved there. A command costs several round trips, so there are as few for a hundred files as for one.
 */
export async function copyByDigest(
  files: readonly DigestedFile[],
  directory: string,
  { shell, remote, signal }: Ways,
): Promise<void> {
  if (files.length === 0) return
  for (const file of files) {
    await checkOwn(file, signal)
    const path = posix.join(incoming, file.sha256)
    await remote.continue(file.from, { path, size: file.bytes }, signal)
  }
  const parts = files.map(({ sha256 }) => posix.join(incoming, sha256))
  const must = async (command: readonly [string, ...string[]], input = ''): Promise<void> => {
    const options = { input, signal, timeoutMs: bounds.digestMsMax }
    const { exitCode, stderr } = await shell.run(command, options)
    if (exitCode === 0) return
    const why = stderr.trim().split('\n').at(-1) || `${command[0]} exited with ${exitCode}`
    throw new ShellError('file', `Cannot copy to ${directory}: ${why}`)
  }
  const lines = files.map(({ sha256 }) => `${sha256}  ${posix.join(incoming, sha256)}\n`)
  try {
    await must(['sha256sum', '--check', '--quiet', '--strict', '-'], lines.join(''))
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ShellError) || error.fault !== 'file') throw error
    await must(['rm', '-f', '--', ...parts])
    const text = `Cannot copy to ${directory}: a copy differs from the original`
    throw new ShellError('file', text, { cause: error })
  }
  await must(['install', '-d', '-m', '0700', '--', directory])
  await must(['mv', '-f', '-t', directory, '--', ...parts])
  const moved = files.map(({ sha256 }) => posix.join(directory, sha256))
  await must(['chown', '--', 'root:root', ...moved])
  await must(['chmod', '--', '0600', ...moved])
}

/** A file that was changed on this machine must not be sent: the other end could not say whose fault it is. */
async function checkOwn({ from, sha256, bytes }: DigestedFile, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256')
  try {
    await using file = await openOwnFile(from)
    // One byte more than there may be, so that a longer file differs and is not read to its end.
    await pipeline(file.createReadStream({ end: bytes, autoClose: false }), hash, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw new ShellError('file', `Cannot read ${from}: ${messageOf(error)}`, { cause: error })
  }
  if (hash.digest('hex') === sha256) return
  throw new ShellError('file', `Cannot copy ${from}: its content differs from its digest`)
}
