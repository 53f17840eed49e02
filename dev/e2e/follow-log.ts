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

export function followLog(host: TestHost, command: readonly string[]): FollowedLog {
  const child = host.start(command, { stdio: ['ignore', 'pipe', 'ignore'] })
  if (child.stdout === null) throw new Error('Cannot follow log: the command has no output')
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit')
  const early = ended.then(() => Promise.reject(new Error('Cannot read line: the stream ended')))
  // The error is reported only to callers of nextLine.
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
