/** The words for an agent, which a site with an agent of its own has as well. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import {
  parseAllowedDial,
  parseAllowedService,
  type AllowedDial,
  type AllowedService,
} from '@skerry/fleet-kinds'
import type { ImpersonationPolicy } from '@skerry/membership'
import { collectLabel } from './node-flags.ts'
import { collect } from './option-values.ts'

export interface EdgeAppsFlags {
  edgeApps: string[] | undefined
}

/** The systems whose kinds can be served. They stand here so that the command loads none of their code. */
const edgeSystems: readonly string[] = ['superedge', 'kubeedge', 'openyurt']

export function edgeAppsOption(): Option {
  const text = `serve kinds of these systems for applications in groups of nodes: ${edgeSystems.join(', ')}`
  return new Option('--edge-apps <systems>', text).argParser(toEdgeSystems)
}

function toEdgeSystems(text: string): string[] {
  const systems = text.split(',').filter((part) => part !== '')
  const unknown = systems.find((each) => !edgeSystems.includes(each))
  if (unknown === undefined && systems.length > 0) return systems
  throw new InvalidArgumentError(`give one or more of ${edgeSystems.join(', ')}`)
}

/** Adds the options for the way to the hub. */
export function withWayOptions(command: Command): Command {
  return command
    .option(
      '--proxy <url>',
      'HTTP proxy for the connection to the hub (default: HTTPS_PROXY and NO_PROXY)',
    )
    .option('--proxy-credentials-file <path>', 'file with user:password for the proxy')
    .option('--proxy-ca-file <path>', 'authority of an https:// proxy, PEM')
    .option('--inspected-tls', 'connect inside a WebSocket, because a box on the way opens TLS')
}

/** Adds the options for what the agent reports about its cluster. */
export function withPlaceOptions(command: Command): Command {
  return command
    .option('--provider <text>', 'provider of the place, for the Cluster object')
    .option('--region <text>', 'region of the place, for the Cluster object')
    .option('--zone <text>', 'zone of the Cluster object (repeatable)', collect, [])
    .option('--label <key=value>', 'label of the Cluster object (repeatable)', collectLabel, {})
}

/** The users whom an agent may impersonate in its cluster. */
export interface PolicyFlags {
  allowUser: string[]
  allowGroup: string[]
  denyGroup: string[]
}

export function withPolicyOptions(command: Command): Command {
  return command
    .option('--allow-user <name>', 'act for these users of the hub only (repeatable)', collect, [])
    .option(
      '--allow-group <name>',
      'act only for users whose groups are all among these (repeatable)',
      collect,
      [],
    )
    .option('--deny-group <name>', 'do not act for users in this group (repeatable)', collect, [])
}

export function policyOf({ allowUser, allowGroup, denyGroup }: PolicyFlags): ImpersonationPolicy {
  return {
    ...(allowUser.length === 0 ? {} : { users: allowUser }),
    ...(allowGroup.length === 0 ? {} : { groups: allowGroup }),
    deniedGroups: denyGroup,
  }
}

export interface AllowedServicesFlags {
  allowService: AllowedService[]
}

/** Adds the option for the services of the cluster that the hub may reach; by default none. */
export function withAllowedServices(command: Command): Command {
  return command.option(
    '--allow-service <namespace/name:port>',
    'the hub may reach the pods of this service; * for name or port (repeatable). anywhere=<namespace/name:port>: also endpoints written by hand, and a name elsewhere',
    collectService,
    [],
  )
}

function collectService(text: string, previous: AllowedService[]): AllowedService[] {
  const allowed = parseAllowedService(text)
  if (allowed) return [...previous, allowed]
  throw new InvalidArgumentError(
    'use namespace/name:port, e.g. shop/web:80, "shop/*:http", anywhere=shop/db:5432',
  )
}

export interface AllowedDialsFlags {
  allowDial: AllowedDial[]
  allowDialDir: string | undefined
}

/** Adds the options for machines behind this cluster that the hub may dial; by default none. */
export function withAllowedDials(command: Command): Command {
  return command
    .option(
      '--allow-dial <address[/bits]:port>',
      'the hub may dial this machine, or each of a network, to make nodes of them, e.g. 10.0.0.0/24:22 (repeatable)',
      collectDial,
      [],
    )
    .option(
      '--allow-dial-dir <path>',
      'directory with files that list more of them, one per line; read again at each dial',
    )
}

/** Returns what the agent needs of these options. */
export function dialsOf({ allowDial, allowDialDir }: AllowedDialsFlags) {
  return { addresses: allowDial, directory: allowDialDir }
}

function collectDial(text: string, previous: AllowedDial[]): AllowedDial[] {
  const allowed = parseAllowedDial(text)
  if (allowed) return [...previous, allowed]
  throw new InvalidArgumentError(
    'use <address>[/<bits>]:<port>, e.g. 10.0.0.21:22, 10.0.0.0/24:22 or pos-1.shop:22',
  )
}
