/**
 * The program. Reads argv, env and signals (nothing else does), and hands each command to its own
 * file, imported only when that command runs: a node agent must not pay for the API server's code.
 */
import { Command, CommanderError } from 'commander'
import { diskFullError, ExpectedError, exitCodes, isDiskFull } from '@skerry/base'
import { addCommands } from './command-table.ts'
import { version } from './version.ts'

async function main(): Promise<void> {
  const program = new Command('skerry')
    .description('Kubernetes at the edge, and many edges run from one place.')
    .version(version, '-V, --version')
    .showHelpAfterError('Run with --help to see what is possible.')
    .exitOverride()
  addCommands(program)
  try {
    await program.parseAsync(process.argv)
  } catch (error) {
    process.exitCode = report(error)
  }
}

function report(thrown: unknown): number {
  if (thrown instanceof CommanderError) {
    return thrown.exitCode === 0 ? 0 : exitCodes.usage
  }
  const error = shown(thrown)
  if (error instanceof ExpectedError) {
    console.error(`skerry: ${error.message}`)
    return error.exitCode
  }
  console.error(error)
  return exitCodes.failure
}

/** A full disk is no fault of the program, wherever it was noticed. */
function shown(error: unknown): unknown {
  if (error instanceof ExpectedError || !isDiskFull(error)) return error
  const path = error instanceof Error && 'path' in error ? ` ${String(error.path)}` : ''
  return diskFullError(`write${path}`, error)
}

/** Who reads the output may stop, as `head` does. The program ends then without a word, as one that SIGPIPE ends. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe)
  throw error
})

await main()
