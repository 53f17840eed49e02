import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** One system call that succeeded, in the order in which they ended. */
export interface SystemCall {
  readonly name: string
  /** Its arguments as strace shows them; bytes are in hexadecimal. */
  readonly args: string
  readonly result: number
  /** The number of calls that had ended when this one began. */
  readonly begun: number
}

/** All calls that change files or make changes durable, and those that a simulated disk must refuse to follow. */
const traced = `open openat creat close dup dup2 dup3 lseek write pwrite64 writev pwritev pwritev2 ftruncate truncate
  fallocate fsync fdatasync sync syncfs sync_file_range rename renameat renameat2 unlink unlinkat rmdir mkdir mkdirat link
  linkat symlink symlinkat mmap msync sendfile copy_file_range`

/** Runs a program of one process to its end, and returns what it asked of the kernel. Throws if it fails. */
export async function traceSystemCalls(command: readonly string[]): Promise<SystemCall[]> {
  const directory = await mkdtemp(join(tmpdir(), 'system-calls-'))
  const path = join(directory, 'trace')
  // The filter in the kernel stops the program at these calls alone.
  const options = ['-f', '--seccomp-bpf', '-xx', '-s', '33554432', '-o', path]
  const args = [...options, '-e', `trace=${traced.split(/\s+/).join(',')}`, ...command]
  try {
    // Node may otherwise write files through a ring in memory, without system calls.
    const env = { ...process.env, UV_USE_IO_URING: '0' }
    const child = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'], env })
    const errors: string[] = []
    child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text))
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`Cannot trace ${command.join(' ')}: ${errors.join('')}`)
    return await readTrace(path)
  } finally {
    await rm(directory, { recursive: true })
  }
}

const whole = /^(\d+) +(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)/s
const cut = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/s
const resumed = /^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+|0x[0-9a-f]+|\?)/s

async function readTrace(path: string): Promise<SystemCall[]> {
  const calls: SystemCall[] = []
  const open = new Map<string, { args: string; begun: number }>()
  const add = (name: string, args: string, result: string, begun: number): void => {
    const value = Number(result)
    if (value >= 0) calls.push({ name, args, result: value, begun })
  }
  for await (const line of createInterface({ input: createReadStream(path, 'latin1') })) {
    const [, thread = '', name = '', args = '', result = ''] =
      whole.exec(line) ?? resumed.exec(line) ?? cut.exec(line) ?? []
    if (line.endsWith('<unfinished ...>')) open.set(thread, { args, begun: calls.length })
    else if (line.includes('resumed>')) {
      const start = open.get(thread)
      if (start) add(name, start.args + args, result, start.begun)
    } else if (name !== '') add(name, args, result, calls.length)
  }
  return calls
}
