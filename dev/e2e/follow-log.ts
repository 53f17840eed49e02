import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { TestHost } from '@skerry/testing'

/** A command that prints lines for as long as its stream lives. */
export interface FollowedLog {
  /** Resolves with one that was not there when it was called; rejects when the stream has ended. */
  nextLine(): Promise<string>
  readonly ended: Promise<unknown>
  stop(): Promise<void>
}

const complaintCharactersMax = 2_000

export function followLog(host: TestHost, command: readonly string[]): FollowedLog {
  const child = host.start(command, { stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.stdout === null) throw new Error('Cannot follow log: the command has no output')
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit')
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-complaintCharactersMax)
  })
  const early = ended.then(() =>
    Promise.reject(new Error(`Cannot read line: the stream ended: ${complaint}`)),
  )
  // Every call of nextLine reports the error; a stream that is stopped ends as well, and nobody asks then.
  early.catch(() => undefined)
  return {
    ended,
    async nextLine() {
      const [line] = await Promise.race([once(lines, 'line'), early])
      return String(line)
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
