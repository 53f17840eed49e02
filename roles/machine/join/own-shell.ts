import { spawn } from 'node:child_process'
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { randomBytes } from 'node:crypto'
import { messageOf } from '@skerry/base'
import { ShellError, type OwnShell, type RunOptions, type RunResult } from '@skerry/provisioning'
import { codeOf } from '../../runtime/data-directory.ts'
import { machineBounds } from '../limits-table.ts'

const { commandMsMax, outputBytesMax } = machineBounds.ownShell

/** Opens this machine itself as a shell, so that a machine can do to itself what a hub does over SSH. */
export function ownShell(): OwnShell {
  return { run, write }
}

async function run(
  command: readonly [string, ...string[]],
  { input, timeoutMs = commandMsMax, signal }: RunOptions = {},
): Promise<RunResult> {
  const [file, ...args] = command
  signal?.throwIfAborted()
  const child = spawn(file, args, { stdio: 'pipe', timeout: timeoutMs, killSignal: 'SIGKILL' })
  const kill = (): void => void child.kill('SIGKILL')
  signal?.addEventListener('abort', kill, { once: true })
  const pieces = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  let bytes = 0
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > outputBytesMax) kill()
      else pieces[name].push(piece)
    })
  }
  child.stdin.on('error', () => undefined)
  child.stdin.end(input ?? '')
  try {
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve(code))
    })
    signal?.throwIfAborted()
    if (bytes > outputBytesMax) throw new ShellError('misbehaves', `${file} prints without an end`)
    if (exitCode === null) throw new ShellError('misbehaves', `${file} did not end in time`)
    const textOf = (list: Buffer[]): string => Buffer.concat(list).toString('utf8')
    return { exitCode, stdout: textOf(pieces.stdout), stderr: textOf(pieces.stderr) }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return { exitCode: notFoundCode, stdout: '', stderr: `${file}: not found\n` }
  } finally {
    signal?.removeEventListener('abort', kill)
  }
}

/** The exit code of shells for a program that is not there. */
const notFoundCode = 127

/** Writes a file whole or not at all. */
async function write(path: string, content: Uint8Array | string, mode: number): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true })
    await replace(path, content, mode)
  } catch (error) {
    const text = `${path} cannot be written: ${messageOf(error)}`
    throw new ShellError('file', text, { cause: error })
  }
}

async function replace(path: string, content: Uint8Array | string, mode: number): Promise<void> {
  const part = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(part, content, { mode, flush: true })
    await chmod(part, mode)
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
