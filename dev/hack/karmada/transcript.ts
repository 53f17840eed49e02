import assert from 'node:assert/strict'
import type { CommandResult, RunOptions, TestHost } from '@skerry/testing'

export interface Step {
  /** The command as a person would type it; `command` is what runs. */
  readonly shown: string
  readonly command: readonly string[]
  readonly options?: RunOptions
  /** A pattern that the output must match. */
  readonly expected: RegExp
  /** Default 0. */
  readonly exitCode?: number
}

export interface Transcript {
  /** A line of prose between commands. */
  readonly say: (text: string) => void
  /** Runs the step, prints the command and its output, and throws if that is not as expected. */
  readonly run: (step: Step) => Promise<string>
}

const commandMsMax = 120_000
const linesMax = 30

/** Creates a transcript of commands on one host, printed as in a terminal. */
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
