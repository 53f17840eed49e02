import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const diskBytes = 4 * 1024 ** 3
const sectorBytes = 512
/** The number of the counter in /sys/block/<name>/stat: sectors written. */
const sectorsWritten = 6

/** A file system of its own, on a disk that counts what it is given: journal, times of files and whole pages included. */
export interface MeasuredDisk extends AsyncDisposable {
  /** An empty directory. */
  readonly path: string
  /** Returns the bytes that the disk was given so far, after everything that waits was written. */
  bytesWritten(): Promise<number>
}

/** Makes a disk in memory: its speed is none of a disk, and its counts are. Needs root. */
export async function mountMeasuredDisk(): Promise<MeasuredDisk> {
  const directory = await mkdtemp('/dev/shm/skerry-disk-')
  const image = join(directory, 'image')
  const path = join(directory, 'mount')
  await mkdir(path)
  let device: string | undefined
  const dispose = async (): Promise<void> => {
    if (device !== undefined) await execute('losetup', ['--detach', device])
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await using file = await open(image, 'w')
    await file.truncate(diskBytes)
    // Otherwise the kernel would write tables of the new file system during the measurement.
    const whole = ['-E', 'lazy_itable_init=0,lazy_journal_init=0']
    await execute('mke2fs', ['-q', '-t', 'ext4', ...whole, image])
    const { stdout } = await execute('losetup', ['--find', '--show', image])
    device = stdout.trim()
    await execute('mount', [device, path])
  } catch (error) {
    await dispose()
    throw error
  }
  const counters = `/sys/block/${basename(device)}/stat`
  return {
    path,
    async bytesWritten() {
      await execute('sync', ['--file-system', path])
      const fields = (await readFile(counters, 'utf8')).trim().split(/\s+/)
      return Number(fields[sectorsWritten]) * sectorBytes
    },
    async [Symbol.asyncDispose]() {
      await execute('umount', [path])
      await dispose()
    },
  }
}
