import type { Command } from 'commander'
import type { EdgeOptions } from '../../roles/client/edge-clusters/edge-cluster-access.ts'
import type {
  AddNodesOptions,
  CreateOptions,
} from '../../roles/client/edge-clusters/edge-cluster-create.ts'
import type { ImportOptions } from '../../roles/client/edge-clusters/edge-cluster-import.ts'
import { onEdge, toBalancer, toStore, withMachineOptions } from '../flags/edge-cluster-flags.ts'
import { collect, example, toCount } from '../flags/option-values.ts'

/** Adds the commands that make an edge cluster of machines, add nodes to it, and import a cluster that exists. */
export function addEdgeClusterCreation(program: Command): void {
  addCreate(program.command('create').description('Make something on the hub'))
  addNodes(program.command('add').description('Add something to an object of the hub'))
  addImport(program.command('import').description('Bring an existing cluster to the hub'))
}

function addCreate(create: Command): void {
  onEdge(withMachineOptions(create.command('edge-cluster')))
    .description('Let the hub make a cluster of machines that have an operating system and SSH')
    .argument('<name>', 'name of the EdgeCluster, and of the Cluster on the hub')
    .option(
      '--master <address>',
      'a machine of the control plane, or several as 10.0.0.[11-13] (repeatable; default: the first machine)',
      collect,
      [],
    )
    .option('--witness <address>', 'the machine that votes for two masters', collect, [])
    .option('--store <kind>', 'sqlite or etcd (default: etcd for several masters)', toStore)
    .option('--virtual-ip <address>', 'address that the masters hold in turn')
    .option('--virtual-router-id <number>', 'its number in their network, 1 to 255', toCount)
    .option('--balancer <address[:port]>', 'your own balancer before the masters', toBalancer)
    .option('--display-name <text>', 'name that people see')
    .option('--hub-server <url>', 'address at which the machines reach the hub (default: its own)')
    .option(
      '--network-interface <name>',
      "interface with the machines' addresses in the cluster, e.g. eth0",
    )
    .option('--pod-cidr <range>', 'addresses of pods (default: 10.42.0.0/16)')
    .option('--service-cidr <range>', 'addresses of services (default: 10.43.0.0/16)')
    .option('--pods-per-node <number>', 'pods that a node runs at most (default: 110)', toCount)
    .option('--check', 'log in to each machine, check it, and print the steps; make nothing')
    .option('--keep', 'with --check: keep the object, for "skerry edge-cluster make"')
    .option('--api-name <name>', "further name of the cluster's API (repeatable)", collect, [])
    .option('--package <digest>', 'offline package of the hub, for machines without mirrors')
    .option('--package-key <path>', 'file with the public key that must have signed it')
    .option('--masters-take-no-workloads', 'give the master the taint of control planes')
    .addHelpText(
      'after',
      `
The hub logs in to each machine, checks it, copies the program, installs system packages, and starts a control
plane on the master and a node on every machine. Each machine must show a host key that you have given or accept.
${example(
  'skerry create edge-cluster branch-7 --machine root@10.0.0.11 --password-file password --wait',
  'skerry create edge-cluster branch-7 --machine admin@10.0.0.[11-14]:2222 --private-key-file id_ed25519 --sudo-password-file sudo --label tier=front',
  'skerry create edge-cluster branch-7 --machine 10.0.0.11 --credentials branch-7-ssh --host-key 10.0.0.11=SHA256:n0rZaeKnzPc4Ap4PYkvIaBnsgM0mwyVnKSpNDrUAAbY',
  'skerry create edge-cluster branch-7 --machine 10.0.0.11 --credentials branch-7-ssh --pod-cidr 10.8.0.0/20 --dry-run',
  'skerry create edge-cluster branch-7 --machine root@10.0.0.[11-14] --password-file password --check',
  'skerry create edge-cluster branch-7 --machine root@10.0.0.[11-15] --master 10.0.0.[11-13] --virtual-ip 10.0.0.10 --password-file password',
)}`,
    )
    .action(async (name: string, options: Omit<CreateOptions, 'name'>) => {
      const { createEdgeCluster } =
        await import('../../roles/client/edge-clusters/edge-cluster-create.ts')
      await createEdgeCluster({ ...options, name })
    })
}

function addNodes(add: Command): void {
  onEdge(withMachineOptions(add.command('nodes')))
    .description('Let the hub make nodes of further machines, some at the same time')
    .argument('<name>', 'name of the EdgeCluster')
    .option('--via-site', 'let the agent of the cluster itself dial the machines')
    .option('--from <file>', 'lines of address,user,port,credentials,labels')
    .addHelpText(
      'after',
      `
In the file everything but the address may be empty; labels are key=value, separated by semicolons. If a line is
wrong, nothing is sent. A machine that fails does not stop the others. With --wait the command ends with a table of
one result for each machine, and with 1 if one of them is not Ready.
${example(
  'skerry add nodes branch-7 --machine 10.0.0.[12-14] --credentials branch-7-ssh',
  'skerry add nodes branch-7 --from machines.csv --credentials branch-7-ssh --wait',
  'skerry add nodes branch-7 --machine 192.168.7.[21-24] --credentials branch-7-ssh --via-site',
  'skerry add nodes branch-7 --machine 192.168.7.21 --credentials branch-7-ssh --jump gate@10.0.0.2 --jump-credentials gate-ssh',
)}`,
    )
    .action(async (name: string, options: Omit<AddNodesOptions, 'name'>) => {
      const { addNodes: send } =
        await import('../../roles/client/edge-clusters/edge-cluster-create.ts')
      await send({ ...options, name })
    })
}

function addImport(bring: Command): void {
  onEdge(bring.command('edge-cluster'))
    .description('Import a cluster that exists (K3s, upstream, managed): its agent connects it')
    .argument('<name>', 'name of the EdgeCluster, and of the Cluster on the hub')
    .option('--display-name <text>', 'name that people see')
    .option('--hub-server <url>', 'address at which the agent reaches the hub (default: its own)')
    .option('--apply-works', 'the agent applies the Works that the hub has for the cluster')
    .option(
      '--allow-service <namespace/name:port>',
      'the hub may reach the pods of this service (repeatable)',
      collect,
      [],
    )
    .option(
      '--allow-dial <address[/bits]:port>',
      'the hub may dial this machine, or each of a network (repeatable)',
      collect,
      [],
    )
    .option('--image <reference>', "image of the agent's container")
    .option('--no-wait', 'do not follow the steps until the cluster is Ready')
    .option('--dry-run', 'let the hub check everything and print the result; make nothing')
    .addHelpText(
      'after',
      `
The hub makes a Secret with a manifest, and the command prints the line that applies it in the cluster. Nothing else
of the cluster is changed; "skerry edge-cluster delete" takes the agent out again.
${example(
  'skerry import edge-cluster branch-8',
  'skerry import edge-cluster branch-8 --apply-works --hub-server https://hub.example.com:7443',
)}`,
    )
    .action(async (name: string, options: Omit<ImportOptions, 'name'>) => {
      const { importEdgeCluster } =
        await import('../../roles/client/edge-clusters/edge-cluster-import.ts')
      await importEdgeCluster({ ...options, name })
    })
}

/** Adds the command that prints what the imported cluster needs. */
export function addJoinManifest(edge: Command): void {
  onEdge(edge.command('join-manifest'))
    .description('Print the manifest, with a token, that connects an imported cluster')
    .argument('<name>')
    .option('--command', 'print the command for a machine that reaches the cluster instead')
    .addHelpText(
      'after',
      example(
        'skerry edge-cluster join-manifest branch-8 | kubectl --context branch-8 apply -f -',
        'skerry edge-cluster join-manifest branch-8 --command',
      ),
    )
    .action(
      async (name: string, flags: Omit<EdgeOptions, 'name'> & { command: boolean | undefined }) => {
        const { printJoinManifest } =
          await import('../../roles/client/edge-clusters/edge-cluster-import.ts')
        await printJoinManifest({ ...flags, name })
      },
    )
}
