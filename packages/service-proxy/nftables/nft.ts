import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { serviceProxyBounds } from '../limits-table.ts'

/** Applies scripts of nftables commands, each in one transaction. */
export interface Nft {
  /** Rejects with nft's own words if the kernel or the parser refuses; nothing was changed then. */
  apply(script: string, signal: AbortSignal): Promise<void>
  /**
   * Resolves to a text that changes with the table's chains, rules and sets, whatever program
   * changes them. Elements of sets are left out, because they are many. The text is empty if there
   * is no such table.
   */
  fingerprint(table: string, signal: AbortSignal): Promise<string>
}

/** Scripts are text on standard input, because nft's JSON form cannot read a pipe that Node created. */
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
