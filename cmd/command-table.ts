import type { Command } from 'commander'
import { addAgentCommand } from './commands/agent-commands.ts'
import { addCertificatesCommands } from './commands/certificates-commands.ts'
import { addClusterCommands } from './commands/cluster-commands.ts'
import { addConflictCommands } from './commands/conflict-commands.ts'
import { addDeveloperCommands, type Developer } from './commands/developer-commands.ts'
import { addDrillCommand } from './commands/drill-commands.ts'
import { addEdgeClusterCommands } from './commands/edge-cluster-commands.ts'
import { addEdgeClusterCreation } from './commands/edge-cluster-creation.ts'
import { addEdgeJobCommands } from './commands/edge-job-commands.ts'
import { addEncryptionCommands } from './commands/encryption-commands.ts'
import { addEtcdCommand } from './commands/etcd-commands.ts'
import { addExplainCommand } from './commands/explain-commands.ts'
import { addForwardCommand } from './commands/forward-commands.ts'
import { addHubCommand } from './commands/hub-commands.ts'
import { addImageCommands } from './commands/image-commands.ts'
import { addKubeconfigCommand } from './commands/kubeconfig-commands.ts'
import { addConsoleCommand, addLoginCommands } from './commands/login-commands.ts'
import { addMachineCommands } from './commands/machine-commands.ts'
import { addNodeCommand } from './commands/node-commands.ts'
import { addPackageCommands } from './commands/package-commands.ts'
import { addSimulateCommand } from './commands/simulate-commands.ts'
import { addSiteCommands } from './commands/site-commands.ts'
import { addBackupCommands, addStoreCommands } from './commands/store-commands.ts'
import { addTokenCommands } from './commands/token-commands.ts'
import { addUpCommands } from './commands/up-commands.ts'
import { addUserCommands } from './commands/user-commands.ts'
import { addWitnessCommand } from './commands/witness-commands.ts'
import { optionDescription } from './option-description.ts'

/** Every command, its options and its help; what it does is imported when it runs. */
export function addCommands(program: Command, developer?: Developer): void {
  program.configureHelp({ optionDescription })
  for (const add of groups) add(program)
  addDeveloperCommands(program, developer)
  addCompletion(program)
}

/** The functions that add commands, in the order of the help. */
const groups: readonly ((program: Command) => void)[] = [
  addUpCommands,
  addKubeconfigCommand,
  addImageCommands,
  addBackupCommands,
  addSiteCommands,
  addNodeCommand,
  addDrillCommand,
  addSimulateCommand,
  addWitnessCommand,
  addEtcdCommand,
  addHubCommand,
  addAgentCommand,
  addClusterCommands,
  addEdgeClusterCreation,
  addEdgeClusterCommands,
  addEdgeJobCommands,
  addTokenCommands,
  addMachineCommands,
  addPackageCommands,
  addUserCommands,
  addLoginCommands,
  addConsoleCommand,
  addForwardCommand,
  addExplainCommand,
  addConflictCommands,
  addEncryptionCommands,
  addCertificatesCommands,
  addStoreCommands,
]

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
