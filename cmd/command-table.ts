import type { Command } from 'commander'
import { addCertificatesCommands } from './commands/certificates-commands.ts'
import { addConsoleCommand } from './commands/console-commands.ts'
import { addDeveloperCommands, type Developer } from './commands/developer-commands.ts'
import { addEdgeClusterCommands } from './commands/edge-cluster-commands.ts'
import { addEdgeJobCommands } from './commands/edge-job-commands.ts'
import { addEncryptionCommands } from './commands/encryption-commands.ts'
import { addEtcdCommand } from './commands/etcd-commands.ts'
import { addExplainCommand } from './commands/explain-commands.ts'
import { addForwardCommand } from './commands/forward-commands.ts'
import { addHubCommands } from './commands/hub-commands.ts'
import { addLoginCommands } from './commands/login-commands.ts'
import { addMachineCommands } from './commands/machine-commands.ts'
import { addPackageCommands } from './commands/package-commands.ts'
import { addRoleCommands } from './commands/role-commands.ts'
import { addStoreCommands } from './commands/store-commands.ts'
import { addTokenCommands } from './commands/token-commands.ts'
import { addUpCommands } from './commands/up-commands.ts'
import { addUserCommands } from './commands/user-commands.ts'
import { addWitnessCommand } from './commands/witness-commands.ts'
import { optionDescription } from './output/option-description.ts'

/** Every command, its options and its help; what it does is imported when it runs. */
export function addCommands(program: Command, developer?: Developer): void {
  program.configureHelp({ optionDescription })
  addUpCommands(program)
  addRoleCommands(program)
  addWitnessCommand(program)
  addEtcdCommand(program)
  addHubCommands(program)
  addEdgeClusterCommands(program)
  addEdgeJobCommands(program)
  addTokenCommands(program)
  addMachineCommands(program)
  addPackageCommands(program)
  addUserCommands(program)
  addLoginCommands(program)
  addConsoleCommand(program)
  addForwardCommand(program)
  addExplainCommand(program)
  addEncryptionCommands(program)
  addCertificatesCommands(program)
  addStoreCommands(program)
  addDeveloperCommands(program, developer)
  addCompletion(program)
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
