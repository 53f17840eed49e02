import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { clientBounds } from '../limits-table.ts'

const { outputBytesMax } = clientBounds.kernelCommands

export interface CommandEnd {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program of the machine to its end. Rejects if it cannot be started, and with the signal's reason once that aborts. */
export async function runCommand(
  command: readonly string[],
  signal: AbortSignal,
  input = '',
): Promise<CommandEnd> {
  const [file = '', ...args] = command
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], signal })
  const read = (stream: typeof child.stdout): (() => string) => {
    let text = ''
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => (text = `${text}${chunk}`.slice(0, outputBytesMax)))
    return () => text
  }
  const [stdout, stderr] = [read(child.stdout), read(child.stderr)]
  child.stdin.on('error', () => child.kill())
  child.stdin.end(input)
  const [code] = await once(child, 'close').catch((error: unknown) => {
    signal.throwIfAborted()
    throw error
  })
  signal.throwIfAborted()
  return { code: typeof code === 'number' ? code : 1, stdout: stdout(), stderr: stderr() }
}

/** Returns the command as it runs in the network namespace, or in that of this process. */
export function inNetns(netns: string | undefined, command: readonly string[]): readonly string[] {
  return netns === undefined ? command : ['ip', 'netns', 'exec', netns, ...command]
}

/**
 * Runs the command when disposed of, and also when this process ends in any other way, as by kill -9: another process waits for
 * the end of a pipe that only this one holds, in a session of its own so that no terminal ends it.
 */
export function atTheEnd(command: readonly string[]): AsyncDisposable {
  const script = 'cat > /dev/null; exec "$@"'
  const child = spawn('sh', ['-c', script, 'sh', ...command], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = once(child, 'close')
  child.stdin.on('error', () => undefined)
  return {
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}
