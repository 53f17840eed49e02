import type { Command } from 'commander'
import { addBuildCommands } from './build-commands.ts'
import { addCertificatesCommands } from './certificates-commands.ts'
import { addEncryptionCommands } from './encryption-commands.ts'
import { addExplainCommand } from './explain-commands.ts'
import { addForwardCommand } from './forward-commands.ts'
import { addHubCommands } from './hub-commands.ts'
import { addLoginCommands } from './login-commands.ts'
import { addRoleCommands } from './role-commands.ts'
import { addUpCommands } from './up-commands.ts'
import { requireSourceTree } from './source-tree.ts'
import { addTokenCommands } from './token-commands.ts'
import { addUserCommands } from './user-commands.ts'

/** Every command, its options and its help; what it does is imported when it runs. */
export function addCommands(program: Command): void {
  addUpCommands(program)
  addRoleCommands(program)
  addHubCommands(program)
  addTokenCommands(program)
  addUserCommands(program)
  addLoginCommands(program)
  addForwardCommand(program)
  addExplainCommand(program)
  addEncryptionCommands(program)
  addCertificatesCommands(program)
  addTestCommands(program)
  addBuildCommands(program)
  addCompletion(program)
}

function addTestCommands(program: Command): void {
  program
    .command('test')
    .description(
      'Prove the tree: types, lint, format, tidy, unit, integration and end-to-end tests',
    )
    .argument('[parts...]', 'only test files whose path contains one of these')
    .option('--quick', 'leave out the end-to-end tests, which need root')
    .option(
      '--no-install',
      'run without the system packages that are missing; tests that need them fail',
    )
    .addHelpText('after', '\nExamples:\n  ./skerry test\n  ./skerry test tidy service-proxy\n')
    .action(async (only: string[], options: { quick?: boolean; install: boolean }) => {
      requireSourceTree('test')
      const { runTests } = await import('./test.ts')
      const { quick, install } = options
      process.exitCode = await runTests({ only, isQuick: quick === true, skipsInstall: !install })
    })
}

function addCompletion(program: Command): void {
  program
    .command('completion <shell>')
    .description('Print a completion script for bash, zsh or fish')
    .addHelpText('after', '\nExamples:\n  skerry completion bash > /etc/bash_completion.d/skerry\n')
    .action(async (shell: string) => {
      const { completionScript } = await import('./completion.ts')
      process.stdout.write(completionScript(program, shell))
    })
}
