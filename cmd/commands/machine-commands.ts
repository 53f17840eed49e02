import { join } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import { parseDurationMs } from '@skerry/api'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { machineBounds } from '../../roles/machine/limits-table.ts'
import { example, toLife, toServers } from '../flags/option-values.ts'
import { collectLabel } from '../flags/node-flags.ts'
import { addMachineJoinCommands } from './machine-join-commands.ts'

/** Adds the commands that a hub runs on the machines of an edge cluster, and that a person may run there, too. */
export function addMachineCommands(program: Command): void {
  const machine = program
    .command('machine')
    .description('Make this machine part of a cluster, or clean it')
  addPrepare(machine)
  addInstallPackage(machine)
  addClean(machine)
  addNodeReady(machine)
  addNodes(machine)
  addApply(machine)
  addMachineJoinCommands(machine)
  addMoveNode(machine)
  addStoreSchema(machine)
  addConfirm(program)
  addAdmitNode(machine)
  addLabelNode(machine)
  addDrainNode(machine)
  addDeleteNode(machine)
}

function addPrepare(machine: Command): void {
  machine
    .command('prepare')
    .description('Install system packages and units, and set modules and switches for every boot')
    .requiredOption('--plan <path>', 'JSON file with clusterName, nodeName and role')
    .addHelpText('after', example('skerry machine prepare --plan /etc/skerry/machine.json'))
    .action(async ({ plan }: { plan: string }) => {
      const { readMachinePlan } = await import('../../roles/machine/machine-plan.ts')
      const { prepareMachine } = await import('../../roles/machine/prepare-machine.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      await prepareMachine(await readMachinePlan(plan), console.log, stopSignal())
    })
}

interface InstallFlags {
  package: string
  publicKeyFile: string
  packagesDir: string
  imagesDir: string
}

function addInstallPackage(machine: Command): void {
  machine
    .command('install-package')
    .description(
      'Check an offline package that was copied here, and install its system packages and images',
    )
    .requiredOption('--package <digest>', 'sha256:<hex>, as "skerry package show" prints it')
    .requiredOption('--public-key-file <path>', 'key of the operator who must have signed it')
    .option(
      '--packages-dir <path>',
      'directory with the package in a directory named by its digest, and all files in blobs/sha256',
      join(dataDirectoryDefault, 'packages'),
    )
    .option(
      '--images-dir <path>',
      'directory where the node looks for image archives when it starts',
      join(dataDirectoryDefault, 'images'),
    )
    .addHelpText(
      'after',
      example(
        `skerry machine install-package --package sha256:${'0123456789abcdef'.repeat(4)} --public-key-file operator.pub`,
      ),
    )
    .action(async (flags: InstallFlags) => {
      const { installPackage } = await import('../../roles/machine/install-package.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      const { packagedEtcd } = await import('../../roles/site/etcd/etcd-program.ts')
      const options = {
        digest: flags.package,
        publicKeyFile: flags.publicKeyFile,
        packagesDirectory: flags.packagesDir,
        imagesDirectory: flags.imagesDir,
        etcdDirectory: packagedEtcd,
        node: { nodeDir: join(dataDirectoryDefault, 'node'), runDir: '/run/skerry/node' },
      }
      await installPackage(options, console.log, stopSignal())
    })
}

function addClean(machine: Command): void {
  machine
    .command('clean')
    .description('Remove everything of Skerry from this machine but its system packages')
    .option('--yes', 'confirm that pods, volumes and state are lost')
    .addHelpText('after', example('skerry machine clean --yes'))
    .action(async ({ yes }: { yes?: boolean }) => {
      const { cleanMachine } = await import('../../roles/machine/clean-machine.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      await cleanMachine({ isConfirmed: yes === true }, console.log, stopSignal())
    })
}

function addNodeReady(machine: Command): void {
  onSiteNode(machine.command('node-ready'))
    .description('Exit with 0 if a node of the site on this machine is Ready')
    .option('--since <seconds>', 'count only a report after this Unix time', toSeconds)
    .addHelpText('after', example('skerry machine node-ready shop-7'))
    .action(async (name: string, { dataDir, since }: { dataDir: string; since?: number }) => {
      const { requireReady } = await import('../../roles/machine/node-ready.ts')
      await requireReady(dataDir, { name, sinceSeconds: since })
    })
}

function addNodes(machine: Command): void {
  machine
    .command('nodes')
    .description(
      'Print names, machine ids and addresses of the nodes of a site on this machine, as JSON',
    )
    .option('--data-dir <path>', 'data directory of the site', join(dataDirectoryDefault, 'site'))
    .addHelpText('after', example('skerry machine nodes'))
    .action(async ({ dataDir }: { dataDir: string }) => {
      const { openOwnSite } = await import('../../roles/machine/own-site.ts')
      const { listNodes } = await import('../../roles/machine/list-nodes.ts')
      const { cluster, signal } = await openOwnSite(dataDir)
      console.log(JSON.stringify(await listNodes(cluster, signal)))
    })
}

function addApply(machine: Command): void {
  machine
    .command('apply')
    .description('Apply manifests to the site on this machine, and remove objects of earlier ones')
    .requiredOption('--manifests <path>', 'JSON file: a list of texts in YAML, each with a name')
    .option('--data-dir <path>', 'data directory of the site', join(dataDirectoryDefault, 'site'))
    .addHelpText('after', example('skerry machine apply --manifests /etc/skerry/add-ons.json'))
    .action(async ({ manifests, dataDir }: { manifests: string; dataDir: string }) => {
      const { openOwnSite } = await import('../../roles/machine/own-site.ts')
      const { systemClock } = await import('@skerry/base')
      const { applyManifests } = await import('@skerry/manifests')
      const { readManifests } = await import('../../roles/machine/read-manifests.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      const objects = await readManifests(manifests, machineBounds.applyManifests.objectsMax)
      const { cluster } = await openOwnSite(dataDir)
      const deps = { cluster, clock: systemClock, print: console.log }
      const inventory = { name: 'skerry-add-ons', manager: 'skerry-add-ons' }
      await applyManifests(objects, inventory, deps, stopSignal())
    })
}

function toSeconds(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('give a whole number of seconds since 1970')
}

interface MoveFlags {
  server: string[]
  tokenFile: string
  caHash: string
  dataDir: string
  nodeName: string | undefined
}

function addMoveNode(machine: Command): void {
  machine
    .command('move-node')
    .description(
      'Prepare the node of this machine for another control plane that has the same pods',
    )
    .requiredOption(
      '--server <url>',
      'address of the other control plane (repeatable: the next one is tried if one does not answer)',
      toServers,
    )
    .requiredOption('--token-file <path>', 'file with a bootstrap token of that control plane')
    .requiredOption('--ca-hash <hash>', 'sha256:<hex> of that control plane')
    .option('--data-dir <path>', 'data directory of the node', join(dataDirectoryDefault, 'node'))
    .option('--node-name <name>', 'its name in the cluster (default: the host name)')
    .addHelpText(
      'after',
      `
The node changes at its next start, if the other control plane has every pod that runs here, by its uid. Containers go on.
${example(
  'skerry machine move-node --server https://10.0.0.5:6443 --token-file token --ca-hash sha256:…',
)}`,
    )
    .action(async ({ server: servers, nodeName, ...flags }: MoveFlags) => {
      const { moveNode } = await import('../../roles/machine/move-node.ts')
      const { defaultNodeName } = await import('../../roles/runtime/host-addresses.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      const { systemClock, systemRandom } = await import('@skerry/base')
      const options = { ...flags, servers, nodeName: nodeName ?? defaultNodeName() }
      const deps = { clock: systemClock, random: systemRandom, print: console.log }
      await moveNode(options, deps, stopSignal())
    })
}

function addStoreSchema(machine: Command): void {
  machine
    .command('store-schema')
    .description('Print the schema version of the stores that this program writes')
    .addHelpText('after', example('skerry machine store-schema'))
    .action(async () => {
      const { schemaVersion } = await import('@skerry/store')
      console.log(schemaVersion)
    })
}

function addConfirm(program: Command): void {
  program
    .command('confirm')
    .description('Confirm, on a machine, the change for which a hub waits')
    .option('--yes', 'do not ask')
    .option('--show', 'only show the change')
    .addHelpText(
      'after',
      `
It shows what will be done and asks. On the master it confirms for all machines of the cluster.
${example('sudo skerry confirm', 'sudo skerry confirm --yes')}`,
    )
    .action(async ({ yes, show }: { yes?: boolean; show?: boolean }) => {
      const { confirmChange } = await import('../../roles/machine/confirm-change.ts')
      const { askYesOrNo } = await import('../../roles/runtime/standard-input.ts')
      const answer = show === true ? 'show' : yes === true ? 'yes' : askYesOrNo
      await confirmChange(answer, console.log)
    })
}

/** Adds the node's name and the option for the site that it belongs to. */
function onSiteNode(command: Command): Command {
  return command
    .argument('<name>', 'name of the node')
    .option('--data-dir <path>', 'data directory of the site', join(dataDirectoryDefault, 'site'))
}

interface AdmitFlags {
  label: Record<string, string>
  uncordon: boolean | undefined
  dataDir: string
}

function addAdmitNode(machine: Command): void {
  onSiteNode(machine.command('admit-node'))
    .description('Give a node of the site labels that it may not give itself, and let pods onto it')
    .option('--label <key=value>', 'label of the node (repeatable)', collectLabel, {})
    .option('--uncordon', 'let pods onto a node that "drain-node" keeps free')
    .addHelpText('after', example('skerry machine admit-node shop-7 --uncordon'))
    .action(async (name: string, { label: labels, uncordon, dataDir }: AdmitFlags) => {
      const { openOwnSite } = await import('../../roles/machine/own-site.ts')
      const { admitNode } = await import('../../roles/machine/admit-node.ts')
      const { cluster, signal } = await openOwnSite(dataDir)
      await admitNode(cluster, { name, labels, isUncordoned: uncordon === true }, signal)
    })
}

function addLabelNode(machine: Command): void {
  onSiteNode(machine.command('label-node'))
    .description('Give a node of the site labels and taints, and take back former ones')
    .addHelpText(
      'after',
      `
Reads JSON from standard input: the settings that are wanted, and former ones, of which the node loses those that it
still has with the same value.
${example(`echo '{"former":[{"labels":{"tier":"front"}}],"wanted":{"taints":[]}}' | skerry machine label-node shop-7`)}`,
    )
    .action(async (name: string, { dataDir }: { dataDir: string }) => {
      const { openOwnSite } = await import('../../roles/machine/own-site.ts')
      const { labelNode, parseNodeChange } = await import('../../roles/machine/label-node.ts')
      const { readStandardInput } = await import('../../roles/runtime/standard-input.ts')
      const change = parseNodeChange(await readStandardInput())
      const { cluster, signal } = await openOwnSite(dataDir)
      await labelNode(cluster, { name, change }, console.log, signal)
    })
}

interface DrainFlags {
  timeout: string
  cordonOnly: boolean | undefined
  dataDir: string
}

function addDrainNode(machine: Command): void {
  onSiteNode(machine.command('drain-node'))
    .description('Keep pods off a node of the site, and move those that it has')
    .option(
      '--timeout <duration>',
      'time after which it ends with an error',
      toLife,
      machineBounds.drain.timeoutDefault,
    )
    .option('--cordon-only', 'do not move its pods')
    .addHelpText(
      'after',
      `
Pods are evicted: disruption budgets and grace periods count. Pods of DaemonSets and of files on the node stay. If
budgets alone keep pods, the command ends after ${machineBounds.drain.blockedMsMax / 1_000} s and names them.
${example('skerry machine drain-node shop-7 --timeout 5m')}`,
    )
    .action(async (name: string, { timeout, cordonOnly, dataDir }: DrainFlags) => {
      const { openOwnSite } = await import('../../roles/machine/own-site.ts')
      const { cordonNode, drainNode } = await import('../../roles/machine/drain-node.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      const { systemClock } = await import('@skerry/base')
      const { cluster, signal } = await openOwnSite(dataDir)
      const deps = { cluster, clock: systemClock, print: console.log }
      if (cordonOnly) await cordonNode(name, deps, signal)
      else {
        const timeoutMs = parseDurationMs(timeout) ?? 0
        await drainNode({ name, timeoutMs }, deps, stopSignal())
      }
    })
}

function addDeleteNode(machine: Command): void {
  onSiteNode(machine.command('delete-node'))
    .description('Remove a node from the site on this machine')
    .option(
      '--with-pods',
      'remove its pods at once: only for a machine that will never answer again',
    )
    .addHelpText('after', example('skerry machine delete-node shop-7'))
    .action(async (name: string, flags: { withPods: boolean | undefined; dataDir: string }) => {
      const { openOwnSite } = await import('../../roles/machine/own-site.ts')
      const { deleteNode } = await import('../../roles/machine/delete-node.ts')
      const { cluster } = await openOwnSite(flags.dataDir)
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      await deleteNode(
        cluster,
        { name, hasPods: flags.withPods === true },
        console.log,
        stopSignal(),
      )
    })
}
