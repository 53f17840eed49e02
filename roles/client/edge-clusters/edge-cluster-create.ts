import { readFile } from 'node:fs/promises'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { ifThere, resources } from '@skerry/client'
import {
  edgeNetworkDefaults,
  machinesOf,
  networkSizeOf,
  type EdgeCluster,
  type MachineBlock,
  type MachineTaint,
} from '@skerry/provisioning'
import { stopSignal } from '../../runtime/role-context.ts'
import {
  namespaceWords,
  openEdge,
  readEdge,
  soon,
  toldPlainly,
  type EdgeAccess,
  type EdgeOptions,
} from './edge-cluster-access.ts'
import { removeCheck, reportCheck } from './edge-cluster-check.ts'
import { endOf } from './edge-cluster-end.ts'
import { followEdge, printerOf, processOutput } from './edge-cluster-watch.ts'
import { machineResults, resultLines } from './machine-results.ts'
import {
  firstAddress,
  machineBlocks,
  namedAddresses,
  parseHostKeys,
  parseMachine,
  parseMachinesFile,
} from './machine-blocks.ts'
import {
  checkSecret,
  createLoginSecret,
  readLogin,
  type LoginData,
  type LoginFlags,
} from './machine-login.ts'
import { wayOf, type WayFlags } from './machine-ways.ts'
import { packageOf, type PackageFlags } from './package-source.ts'

/** The options by which machines are named, for a new cluster and for more nodes of one. */
export interface MachineFlags extends LoginFlags, WayFlags {
  machine: string[]
  hostKey: string[]
  acceptNewHostKeys: boolean | undefined
  label: Record<string, string>
  taint: readonly MachineTaint[]
  wait: boolean | undefined
  dryRun: boolean | undefined
  /** How many machines are worked on at the same time. */
  atOnce: number | undefined
}

/** The addresses of a new cluster, and the names of its API. */
interface NetworkFlags {
  networkInterface: string | undefined
  podCidr: string | undefined
  serviceCidr: string | undefined
  podsPerNode: number | undefined
  apiName: string[]
}

/** The masters' store, and the address before them. */
interface MastersFlags {
  store: 'SQLite' | 'Etcd' | undefined
  virtualIp: string | undefined
  virtualRouterId: number | undefined
  balancer: { readonly address: string; readonly port?: number } | undefined
}

export interface CreateOptions
  extends EdgeOptions, MachineFlags, NetworkFlags, PackageFlags, MastersFlags {
  master: string[]
  witness: string[]
  displayName: string | undefined
  hubServer: string | undefined
  /** Whether machines are checked, and nothing is made. */
  check: boolean | undefined
  keep: boolean | undefined
  mastersTakeNoWorkloads: boolean | undefined
}

/** Makes an EdgeCluster, and the Secret of its login if files are given. Throws an ExpectedError. */
export async function createEdgeCluster(options: CreateOptions): Promise<void> {
  const { name, namespace, output } = options
  await toldPlainly(`create edge cluster ${name}`, async () => {
    requireOneWay(options)
    const login = await readLogin(options)
    const secret = options.credentials ?? `${name}-ssh`
    if (options.credentials === undefined && login === undefined) throw noLogin()
    const offline = await packageOf(options)
    const edge = edgeClusterOf(options, secret, offline)
    const access = await openEdge(options)
    // Everything that is wrong is found before a Secret is made.
    const checked = await access.client.create(edge, soon(), { isDryRun: true })
    if (login === undefined) await checkSecret(access.hub, { namespace, name: secret }, soon())
    if (options.dryRun) return printPlan(checked, output)
    const request = { namespace, name: secret, edgeName: name }
    const made = await withLogin(access, { login, request }, () =>
      access.client.create(edge, soon()),
    )
    if (!options.check) return reportOn(access, options, made)
    try {
      await reportCheck(access, options)
    } finally {
      if (!options.keep) await forgetCheck(access, login === undefined ? undefined : secret)
    }
  })
}

/** Removes what a check has made: the object, and the Secret of a login that was given as files. */
async function forgetCheck(access: EdgeAccess, secret: string | undefined): Promise<void> {
  await removeCheck(access)
  if (secret === undefined) return
  const key = { namespace: access.key.namespace, name: secret }
  await ifThere(access.hub.resource(resources.secrets).delete(key, soon()))
}

function requireOneWay({ check, dryRun, wait, keep }: CreateOptions): void {
  const fail = (why: string): ExpectedError =>
    new ExpectedError(`Cannot create edge cluster: ${why}`, exitCodes.usage)
  if (check && dryRun) throw fail('give --dry-run, which asks no machine, or --check, which does')
  if (check && wait) throw fail('--check makes nothing that --wait could follow')
  if (keep && !check) throw fail('--keep needs --check')
}

function edgeClusterOf(
  options: CreateOptions,
  secret: string,
  offline: Pick<EdgeCluster['spec'], 'package'>,
): EdgeCluster {
  const { name, namespace, displayName, hubServer, networkInterface, apiName } = options
  const { podCidr: podCIDR, serviceCidr: serviceCIDR, podsPerNode, atOnce } = options
  const machines = options.machine.map(parseMachine)
  const [first] = machines
  if (first === undefined) throw noMachines('--machine')
  const roles = rolesOf(options, firstAddress(first))
  const network = {
    ...(podCIDR === undefined ? {} : { podCIDR }),
    ...(serviceCIDR === undefined ? {} : { serviceCIDR }),
    ...(podsPerNode === undefined ? {} : { podsPerNode }),
  }
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name, namespace },
    spec: {
      ...(displayName === undefined ? {} : { displayName }),
      ...(hubServer === undefined ? {} : { hubServer }),
      ...(networkInterface === undefined ? {} : { networkInterface }),
      ...(Object.keys(network).length === 0 ? {} : { network }),
      ...(apiName.length === 0 ? {} : { apiNames: apiName }),
      ...(options.check ? { mode: 'Check' as const } : {}),
      ...(atOnce === undefined ? {} : { machinesAtOnce: atOnce }),
      ...offline,
      ...mastersSpec(options),
      machines: machineBlocks(machines, { ...rulesOf(options, secret), roles }),
      ...(options.mastersTakeNoWorkloads ? { mastersTakeWorkloads: false } : {}),
    },
  }
}

function rolesOf(
  { master, witness }: Pick<CreateOptions, 'master' | 'witness'>,
  first: string,
): Map<string, 'Master' | 'Witness'> {
  const masters = master.length === 0 ? [first] : master.flatMap((text) => namedAddresses(text))
  const witnesses = witness.flatMap((text) => namedAddresses(text))
  return new Map([
    ...masters.map((address) => [address, 'Master'] as const),
    ...witnesses.map((address) => [address, 'Witness'] as const),
  ])
}

/** Several masters need an etcd, so that naming them asks for one. */
function mastersSpec(options: CreateOptions): Partial<EdgeCluster['spec']> {
  const { store, master, witness, virtualIp, virtualRouterId, balancer } = options
  if (virtualIp !== undefined && balancer !== undefined) {
    const text = 'Cannot create edge cluster: --virtual-ip and --balancer exclude each other'
    throw new ExpectedError(text, exitCodes.usage)
  }
  if (virtualRouterId !== undefined && virtualIp === undefined) {
    const text = 'Cannot create edge cluster: --virtual-router-id belongs to --virtual-ip'
    throw new ExpectedError(text, exitCodes.usage)
  }
  const count = master.flatMap((text) => namedAddresses(text)).length + witness.length
  const type = store ?? (count > 1 ? 'Etcd' : undefined)
  return {
    ...(type === undefined ? {} : { store: { type } }),
    ...(virtualIp === undefined
      ? {}
      : {
          highAvailability: {
            type: 'VirtualIP',
            address: virtualIp,
            ...(virtualRouterId === undefined ? {} : { virtualRouterId }),
          },
        }),
    ...(balancer === undefined ? {} : { highAvailability: { type: 'Balancer', ...balancer } }),
  }
}

function rulesOf(flags: MachineFlags, credentials: string) {
  const hostKeys = parseHostKeys(flags.hostKey)
  const rules = { credentials, hostKeys, acceptNewHostKeys: flags.acceptNewHostKeys === true }
  return { ...rules, way: wayOf(flags, rules), labels: flags.label, taints: flags.taint }
}

/** Makes the Secret of a login before the object that names it, and removes it again if that one cannot be written. */
async function withLogin<T>(
  { hub }: EdgeAccess,
  parts: {
    readonly login: LoginData | undefined
    readonly request: Omit<Parameters<typeof createLoginSecret>[1], 'data'>
  },
  write: (secret: string) => Promise<T>,
): Promise<T> {
  const { login, request } = parts
  if (login === undefined) return write('')
  const name = await createLoginSecret(hub, { ...request, data: login }, soon())
  try {
    return await write(name)
  } catch (error) {
    const key = { namespace: request.namespace, name }
    await ifThere(hub.resource(resources.secrets).delete(key, soon()))
    throw error
  }
}

/** Prints the object as the hub would keep it, and the limits that follow from it. */
async function printPlan(edge: EdgeCluster, output: string | undefined): Promise<void> {
  const limits = limitsOf(edge)
  if (output === 'json') return console.log(JSON.stringify({ object: edge, limits }))
  // YAML is a CommonJS package: the program's bundle has only its default export.
  const { default: yaml } = await import('yaml')
  const { machines, nodesMax, podCIDR, nodeBits, podsPerNode, servicesMax, serviceCIDR } = limits
  console.log('# Nothing was made: this is a dry run, and no machine was asked.')
  console.log(
    `# Machines: ${machines}, at most ${nodesMax} nodes (${podCIDR}, a /${nodeBits} for each node with ${podsPerNode} pods)`,
  )
  console.log(`# Services: at most ${servicesMax} (${serviceCIDR})`)
  console.log(yaml.stringify(edge).trimEnd())
}

function limitsOf({ spec }: EdgeCluster) {
  const { podCIDR, serviceCIDR } = { ...edgeNetworkDefaults, ...spec.network }
  return { machines: machinesOf(spec).length, podCIDR, serviceCIDR, ...networkSizeOf(spec) }
}

async function reportOn(
  access: EdgeAccess,
  options: EdgeOptions & { wait: boolean | undefined },
  made: EdgeCluster,
): Promise<void> {
  const { name, namespace, output, wait } = options
  if (wait) return followEdge(access, printerOf(output, processOutput()), stopSignal())
  if (output === 'json') return console.log(JSON.stringify(made))
  const watch = `skerry edge-cluster watch ${name}${namespaceWords(namespace)}`
  console.log(`The hub makes edge cluster ${name}; see "${watch}"`)
}

export interface AddNodesOptions extends EdgeOptions, MachineFlags {
  /** A file of machines. */
  from: string | undefined
}

/** Appends machines to an EdgeCluster. Throws an ExpectedError before anything is sent if one of them is wrong. */
export async function addNodes(options: AddNodesOptions): Promise<void> {
  const { name, namespace, output, atOnce } = options
  await toldPlainly(`add nodes to edge cluster ${name}`, async () => {
    const login = await readLogin(options)
    const blocksFor = await nodeBlocks(options, login !== undefined)
    const access = await openEdge(options)
    await readEdge(access, soon())
    const append = (secret: string, isDryRun: boolean): Promise<EdgeCluster> =>
      access.client.patch(
        {
          ...access.key,
          type: 'json',
          patch: [
            ...blocksFor(secret).map((value) => ({ op: 'add', path: '/spec/machines/-', value })),
            ...(atOnce === undefined
              ? []
              : [{ op: 'add', path: '/spec/machinesAtOnce', value: atOnce }]),
          ],
          isDryRun,
        },
        soon(),
      )
    const own = options.credentials ?? `${name}-ssh`
    const checked = await append(own, true)
    const named = new Set(blocksFor(own).map(({ credentials }) => credentials.name))
    if (login !== undefined) named.delete(own)
    for (const secret of named) await checkSecret(access.hub, { namespace, name: secret }, soon())
    if (options.dryRun) return printPlan(checked, output)
    const request = { namespace, generateName: `${name}-ssh-`, edgeName: name }
    const made = await withLogin(access, { login, request }, (secret) =>
      append(login === undefined ? own : secret, false),
    )
    if (!options.wait) return reportOn(access, options, made)
    await reportResults(access, machinesOf({ machines: blocksFor(own) }), output)
  })
}

/** Follows until each machine has a result, and prints them. Throws an ExpectedError if one is not Ready. */
async function reportResults(
  access: EdgeAccess,
  added: readonly { readonly address: string }[],
  output: string | undefined,
): Promise<void> {
  const show = printerOf(output, processOutput())
  const until = (edge: EdgeCluster): boolean => endOf(edge) !== undefined
  await followEdge(access, show, stopSignal(), { until })
  const addresses = new Set(added.map(({ address }) => address))
  const edge = await readEdge(access, soon())
  const results = machineResults(edge).filter(({ address }) => addresses.has(address))
  if (output === 'json') console.log(JSON.stringify({ results }))
  else for (const line of ['', ...resultLines(results)]) console.log(line)
  const failed = results.filter(({ state }) => state !== 'Ready')
  if (failed.length === 0) return
  const { name, namespace } = access.key
  const retry = `skerry edge-cluster retry ${name}${namespaceWords(namespace)}`
  const text = `Cannot add nodes to edge cluster ${name}: ${failed.length} of ${results.length} machines are not Ready; put them right, then run "${retry}"`
  throw new ExpectedError(text, exitCodes.failure)
}

/** Resolves with a function that returns the blocks for machines that name no Secret of their own. */
async function nodeBlocks(
  options: AddNodesOptions,
  hasLogin: boolean,
): Promise<(secret: string) => MachineBlock[]> {
  const { from, credentials } = options
  const fallback = credentials ?? (hasLogin ? 'made-from-files' : undefined)
  const named = options.machine.map(parseMachine)
  if (named.length > 0 && fallback === undefined) throw noLogin()
  const filed =
    from === undefined
      ? []
      : parseMachinesFile(await readText(from), { path: from, credentials: fallback })
  const machines = [...named, ...filed]
  if (machines.length === 0) throw noMachines('--machine or --from')
  return (secret) => machineBlocks(machines, rulesOf(options, secret))
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    const text = `Cannot use file ${path}: it cannot be read: ${messageOf(cause)}`
    throw new ExpectedError(text, exitCodes.usage, { cause })
  })
}

function noMachines(options: string): ExpectedError {
  return new ExpectedError(`Cannot use machines: there is none; give ${options}`, exitCodes.usage)
}

function noLogin(): ExpectedError {
  const text =
    'Cannot log in to machines: give --credentials <secret>, --password-file or --private-key-file'
  return new ExpectedError(text, exitCodes.usage)
}
