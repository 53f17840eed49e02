import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { serviceProxyBounds } from '../limits/limits-table.ts'

/** What applies a script of nftables commands in one transaction. */
export interface Nft {
  /** Rejects with nft's own words when the kernel or the parser refuses; then nothing was changed. */
  apply(script: string, signal: AbortSignal): Promise<void>
  /**
   * A text that changes with the table's chains, rules and sets, whoever changes them; elements of sets,
   * of which there are many, are left out. Empty: there is no such table.
   */
  fingerprint(table: string, signal: AbortSignal): Promise<string>
}

/** Text on standard input: nft's JSON form cannot read a pipe that Node made. */
export function createNft(command: readonly string[] = ['nft']): Nft {
  return {
    async apply(script, signal) {
      const { code, stderr } = await run([...command, '-f', '-'], script, signal)
      if (code === 0) return
      const words = stderr.trim().slice(0, 2_000)
      throw new Error(`Cannot apply service rules: nft ended with ${code}: ${words}`)
    },
    async fingerprint(table, signal) {
      const list = ['--terse', '--stateless', '--numeric', 'list', 'table', 'ip', table]
      const { code, stdout } = await run([...command, ...list], '', signal)
      return code === 0 ? stdout : ''
    },
  }
}

const { outputBytesMax } = serviceProxyBounds.nft

async function run(
  command: readonly string[],
  input: string,
  signal: AbortSignal,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const [file = '', ...args] = command
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'], signal })
  const read = (stream: Readable): (() => string) => {
    const chunks: Buffer[] = []
    let bytes = 0
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= outputBytesMax) chunks.push(chunk)
    })
    return () => Buffer.concat(chunks).toString('utf8')
  }
  const [stdout, stderr] = [read(child.stdout), read(child.stderr)]
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  child.stdin.on('error', () => child.kill())
  child.stdin.end(input)
  const code = await ended
  return { code, stdout: stdout(), stderr: stderr() }
}
