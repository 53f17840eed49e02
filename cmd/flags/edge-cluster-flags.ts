/** The words that several commands on edge clusters have. */
import { InvalidArgumentError, type Command } from 'commander'
import { withHubFlags } from '../../roles/admin/chosen-hub.ts'
import { collectLabel, collectTaint } from './node-flags.ts'
import { collect, toCount, toJson } from './option-values.ts'

/** Adds the options of every command on an edge cluster. */
export function onEdge(command: Command): Command {
  return withHubFlags(command)
    .option('-n, --namespace <name>', 'namespace of the EdgeCluster', 'default')
    .option('-o, --output <format>', 'output format: json', toJson)
}

/** Adds the options that name machines, how to log in to them, and by which keys they are known. */
export function withMachineOptions(command: Command): Command {
  return command
    .option(
      '--machine <[user@]address[:port]>',
      'a machine, or several as 10.0.0.[11-14]; user root and port 22 if omitted (repeatable)',
      collect,
      [],
    )
    .option('--credentials <secret>', 'Secret in that namespace with the login of the machines')
    .option('--password-file <path>', 'make that Secret from a file with the password')
    .option('--private-key-file <path>', 'make that Secret from a file with a private key')
    .option('--passphrase-file <path>', 'file with the passphrase of the private key')
    .option(
      '--sudo-password-file <path>',
      'file with the password for sudo (default: that of the user)',
    )
    .option(
      '--host-key <address=fingerprint>',
      'SHA256:… that the machine must show (repeatable)',
      collect,
      [],
    )
    .option('--accept-new-host-keys', 'accept and keep the first key that each machine shows')
    .option(
      '--jump <[user@]address[:port]>',
      'log in to this host first, and reach the machines from there',
    )
    .option('--jump-credentials <secret>', 'Secret with its login (default: that of the machines)')
    .option('--via-cluster <name>', 'let the agent of this registered cluster dial the machines')
    .option('--label <key=value>', 'label of the nodes (repeatable)', collectLabel, {})
    .option('--at-once <number>', 'machines that are worked on at a time (default: 10)', toCount)
    .option(
      '--taint <key=value:effect>',
      'taint with which the nodes register (repeatable)',
      collectTaint,
      [],
    )
    .option('--wait', 'follow the steps until the cluster is Ready, as "edge-cluster watch" does')
    .option('--dry-run', 'let the hub check everything and print the result; make nothing')
}

const stores = { sqlite: 'SQLite', etcd: 'Etcd' } as const

/** Parses the word for the store of a cluster. */
export function toStore(text: string): 'SQLite' | 'Etcd' {
  if (text === 'sqlite' || text === 'etcd') return stores[text]
  throw new InvalidArgumentError('give sqlite or etcd')
}

/** Parses `address[:port]`; the hub judges both. */
export function toBalancer(text: string): { readonly address: string; readonly port?: number } {
  const [, address, port] = /^([^:\s]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (address === undefined) {
    throw new InvalidArgumentError('give an address or a name, and a port, e.g. 10.0.0.9:6443')
  }
  return { address, ...(port === undefined ? {} : { port: Number(port) }) }
}
