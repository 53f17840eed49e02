import { execFile } from 'node:child_process'
import { mkdtemp, rm, rmdir, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A separate file system that can be filled up. Needs root. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string
  /** Fills all space. */
  fill(): Promise<void>
  /** Releases the space of fill(). */
  free(): Promise<void>
}

function ignoreFull(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
}

export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'skerry-disk-'))
  const options = `size=${megabytes}m,mode=0700`
  await execute('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path])
  const ballast = join(path, 'ballast')
  return {
    path,
    async fill() {
      const { bavail, bsize } = await statfs(path)
      // Others may have used some of it meanwhile; as much as fits is written.
      await writeFile(ballast, Buffer.alloc(bavail * bsize)).catch(ignoreFull)
    },
    free: () => rm(ballast, { force: true }),
    async [Symbol.asyncDispose]() {
      await execute('umount', ['--lazy', path])
      await rmdir(path)
    },
  }
}
