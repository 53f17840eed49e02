import { spawn } from 'node:child_process'

/** What applies a script of nftables commands in one transaction. */
export interface Nft {
  /** Rejects with nft's own words when the kernel or the parser refuses; then nothing was changed. */
  apply(script: string, signal: AbortSignal): Promise<void>
}

/** Text on standard input: nft's JSON form cannot read a pipe that Node made. */
export function createNft(command: readonly string[] = ['nft', '-f', '-']): Nft {
  return {
    async apply(script, signal) {
      const [file = '', ...args] = command
      const child = spawn(file, args, { stdio: ['pipe', 'ignore', 'pipe'], signal })
      const complaints: Buffer[] = []
      child.stderr.on('data', (chunk: Buffer) => {
        if (complaints.length < 16) complaints.push(chunk)
      })
      const ended = new Promise<number | null>((resolve, reject) => {
        child.on('error', reject)
        child.on('close', resolve)
      })
      child.stdin.on('error', () => child.kill())
      child.stdin.end(script)
      const code = await ended
      if (code !== 0) {
        const words = Buffer.concat(complaints).toString('utf8').trim().slice(0, 2_000)
        throw new Error(`Cannot apply service rules: nft ended with ${code}: ${words}`)
      }
    },
  }
}
