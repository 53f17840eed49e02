import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestHost } from '@skerry/testing'
import { waitFor } from './wait-for.ts'

/** A separate terminal with a command on it, as people use it. */
export interface Terminal extends AsyncDisposable {
  /** Types these keys. Enter is `\r`. */
  type(keys: string): void
  /** Resolves when the screen has shown it. */
  until(text: RegExp): Promise<true>
  /** Resizes its window. */
  resize(size: { rows: number; columns: number }): Promise<void>
  /** The command's exit code. */
  readonly ended: Promise<number | null>
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>
}

export async function openTerminal(
  host: TestHost,
  command: readonly string[],
  { env = {} }: TerminalOptions = {},
): Promise<Terminal> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-terminal-'))
  const nameFile = join(directory, 'name')
  const script = `tty > ${nameFile}; exec ${command.map(quoted).join(' ')}`
  const child = host.start(['script', '-qec', script, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('Cannot open terminal: no pipes')
  // A command that has ended reads no keys.
  stdin.on('error', () => undefined)
  let screen = ''
  stdout.setEncoding('utf8').on('data', (text: string) => (screen += text))
  const ended = once(child, 'exit').then(() => child.exitCode)
  const name = await waitFor('the terminal', async () => {
    const text = await readFile(nameFile, 'utf8')
    return text.endsWith('\n') ? text.trim() : undefined
  })
  return {
    ended,
    type: (keys) => void stdin.write(keys),
    until: (text) =>
      waitFor(`${text} on the terminal`, async () => text.test(screen) || undefined, {
        timeoutMs: 30_000,
        diagnose: async () => screen,
      }),
    async resize({ rows, columns }) {
      const size = ['rows', String(rows), 'columns', String(columns)]
      const { exitCode, stderr } = await host.run(['stty', '-F', name, ...size])
      if (exitCode !== 0) throw new Error(`Cannot resize terminal: ${stderr}`)
    },
    async [Symbol.asyncDispose]() {
      // This is like closing the window: its programs are hung up.
      child.kill('SIGKILL')
      await ended
      await rm(directory, { recursive: true })
    },
  }
}

/** Quotes a word for the shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
