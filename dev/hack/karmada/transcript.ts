import assert from 'node:assert/strict'
import type { CommandResult, RunOptions, TestHost } from '@skerry/testing'

export interface Step {
  /** As a person would type it; what runs is `command`. */
  readonly shown: string
  readonly command: readonly string[]
  readonly options?: RunOptions
  /** What must be in the output. */
  readonly expected: RegExp
  /** Default 0. */
  readonly exitCode?: number
}

export interface Transcript {
  /** A line of prose between commands. */
  readonly say: (text: string) => void
  /** Runs it, prints it and what it said, and throws when that is not as expected. */
  readonly run: (step: Step) => Promise<string>
}

const commandMsMax = 120_000
const linesMax = 30

/** Of commands on one host, printed as they would look in a terminal. */
export function createTranscript(host: TestHost, environment: Record<string, string>): Transcript {
  return {
    say: (text) => console.log(`\n# ${text}`),
    async run({ shown, command, options = {}, expected, exitCode = 0 }) {
      console.log(`$ ${shown}`)
      const result = await host.run(command, {
        timeoutMs: commandMsMax,
        ...options,
        env: { ...environment, ...options.env },
      })
      const output = outputOf(result)
      console.log(output.split('\n').slice(0, linesMax).join('\n'))
      assert.equal(result.exitCode, exitCode, `${shown}: exit code`)
      assert.match(output, expected, `${shown}: output`)
      return result.stdout
    },
  }
}

function outputOf({ stdout, stderr }: CommandResult): string {
  return `${stdout}${stderr}`.trimEnd()
}
