import { Command, CommanderError } from 'commander'
import { diskFullError, ExpectedError, exitCodes, isDiskFull } from '@skerry/base'
import { addCommands } from './command-table.ts'
import { version } from '../roles/runtime/version.ts'
import type { Developer } from './commands/developer-commands.ts'

/** Runs the command in argv, and sets the exit code. `developer` implements `test`, `build` and `bench`. */
export async function runProgram(developer?: Developer): Promise<void> {
  process.stdout.on('error', endQuietly)
  const program = new Command('skerry')
    .description('Kubernetes at the edge, and many edges run from one place.')
    .version(version, '-V, --version')
    .showHelpAfterError('Run with --help to list the commands.')
    .exitOverride()
    // A command below another has options of the same names: those behind its word are its own.
    .enablePositionalOptions()
  addCommands(program, developer)
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

/** Reports a full disk, and a file of another user, as an expected error, wherever it was noticed. */
function shown(error: unknown): unknown {
  if (error instanceof ExpectedError || !(error instanceof Error)) return error
  const path = 'path' in error ? ` ${String(error.path)}` : ''
  if (isDiskFull(error)) return diskFullError(`write${path}`, error)
  if (!('code' in error) || error.code !== 'EACCES' || path === '') return error
  const text = `Cannot open${path}: permission denied; run it as root, or as the owner of the file`
  return new ExpectedError(text, exitCodes.missingRight, { cause: error })
}

/** A reader of the output may stop early, as `head` does. The program then ends silently, like one that SIGPIPE ends. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(exitCodes.brokenPipe)
  throw error
}
