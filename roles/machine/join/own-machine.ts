import { parseBootstrapToken } from '@skerry/api'
import { ExpectedError, exitCodes, type Clock, type Connect, type Logger } from '@skerry/base'
import { discoverCluster } from '@skerry/bootstrap'
import {
  preflightOfOwn,
  Redactor,
  ShellError,
  StepError,
  syncDisk,
  type EdgeCluster,
  type OwnMachineContext,
  type OwnShell,
} from '@skerry/provisioning'
import { prepareMachine } from '../prepare-machine.ts'
import { askServerTime } from './ask-server.ts'
import type { JoinOptions } from './join-options.ts'
import { ownShell } from './own-shell.ts'
import { addressOnWayTo, connectToHub, directly, writeProxyFiles } from './way-to-server.ts'

export interface JoinDeps {
  readonly clock: Clock
  readonly log: Logger
  /** Gets a line for each thing that is done. */
  readonly print: (line: string) => void
  readonly signal: AbortSignal
}

/** One step on the way of this machine into a cluster; `act` resolves with its result in a few words. */
export interface JoinStep {
  readonly does: string
  readonly act: () => Promise<string>
}

/**
 * Does the steps in order, each of which ends when the disk has its work. Rejects with an ExpectedError that names the one
 * that failed.
 */
export async function inOrder(
  steps: readonly JoinStep[],
  shell: Pick<OwnShell, 'run'>,
  { print, signal }: Pick<JoinDeps, 'print' | 'signal'>,
): Promise<void> {
  for (const { does, act } of steps) {
    signal.throwIfAborted()
    print(does)
    try {
      const result = await act()
      await syncDisk(shell, signal)
      print(`  ${result}`)
    } catch (error) {
      if (!(error instanceof StepError || error instanceof ShellError)) throw error
      const text = `Cannot join (${does}): ${error.message}`
      throw new ExpectedError(text, exitCodes.failure, { cause: error })
    }
  }
}

/** A machine that joins, and its way to the server. */
export interface JoiningMachine {
  readonly context: OwnMachineContext
  /** Connects to the server. */
  readonly connect: Connect
}

/** Resolves with the context in which this machine does to itself what a hub does over SSH. */
export async function ownMachine(
  role: 'Master' | 'Node',
  options: JoinOptions,
  deps: JoinDeps,
): Promise<JoiningMachine> {
  const { server, labels, taints, way, apiPort } = options
  const { clock, print, signal } = deps
  // Nodes reach their site directly: it is in their own network.
  const isByProxy = role === 'Master' && way.proxy !== undefined
  const connect = role === 'Master' ? await connectToHub(options, deps) : directly(deps)
  const timeMs = await askServerTime({ server, connect }, deps)
  const address = await addressOnWayTo(isByProxy ? way.proxy : server, deps)
  // The preflight compares this machine's clock with the server's.
  const skewMs = timeMs === undefined ? 0 : timeMs - clock.now()
  const block = {
    addresses: [address],
    role,
    credentials: { name: '' },
    labels,
    taints: [...taints],
  }
  const machine = { address, port: 0, user: 'root', role, block }
  const redactor = new Redactor()
  redactor.add([options.token])
  const context: OwnMachineContext = {
    edge: edgeOf(role, options),
    machine,
    machines: [machine],
    shell: ownShell(),
    print: (text) => print(redactor.redact(text.trimEnd()).replaceAll(/^/gm, '  ')),
    conceal: (secrets) => redactor.add(secrets),
    clock: { ...clock, now: () => clock.now() + skewMs },
    apiPort,
    signal,
  }
  return { context, connect }
}

/** The cluster as if an object on a hub described it. */
function edgeOf(role: 'Master' | 'Node', options: JoinOptions): EdgeCluster {
  const { clusterName, network, networkInterface, server, way, offline } = options
  const { proxy: url } = way
  const site = role === 'Node' ? [new URL(server).hostname] : []
  const proxy = url && { httpProxy: url, httpsProxy: url, noProxy: [...site, ...way.noProxy] }
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: clusterName },
    spec: {
      network,
      machines: [],
      ...(networkInterface === undefined ? {} : { networkInterface }),
      ...(proxy ? { proxy } : {}),
      ...(offline ? { package: offline } : {}),
    },
  }
}

/** The steps that a node and a site begin with: nothing is changed before the server has proven who it is. */
export function firstSteps(
  options: JoinOptions,
  { context, connect, nodeName }: JoiningMachine & { readonly nodeName: string },
  { tokenCommand, deps }: { readonly tokenCommand: string; readonly deps: JoinDeps },
): JoinStep[] {
  const { server, caHash, clusterName, network, apiPort, offline } = options
  const { role } = context.machine
  let authorityPem = ''
  const taken: JoinStep = {
    does: 'take missing system packages, and images, from the offline package',
    async act() {
      if (offline === undefined) throw new RangeError('Cannot take a package: the line names none')
      const { takePackage } = await import('./take-package.ts')
      return takePackage(
        { offline, server, token: options.token, authorityPem, connect },
        // Waits are measured by this machine's own clock.
        { ...context, clock: deps.clock },
      )
    },
  }
  return [
    {
      does: 'check system, kernel, memory, disk, clock, ports and left-overs',
      act: () => preflightOfOwn(context),
    },
    {
      does: `check ${server} and the token`,
      async act() {
        const token = parseBootstrapToken(options.token)
        if (token === undefined) throw new RangeError('Cannot join: the token cannot be read')
        const discovery = { server, token, authorityHashes: [caHash], tokenCommand, connect }
        authorityPem = (await discoverCluster(discovery, deps, deps.signal)).authorityPem
        return `it has ${caHash}, and knows the token`
      },
    },
    ...(offline === undefined ? [] : [taken]),
    {
      does: 'install packages and units, load kernel modules, set switches for every boot',
      async act() {
        const { podCIDR = '', serviceCIDR = '' } = network
        const plan = { clusterName, nodeName, role, podCIDR, serviceCIDR, apiPort }
        const apt = await writeProxyFiles(options, context)
        const print = (line: string): void => context.print(line)
        await prepareMachine(
          { ...plan, isOffline: offline !== undefined, hasVirtualIP: false },
          print,
          deps.signal,
          apt,
        )
        return `this machine is prepared as ${nodeName}`
      },
    },
  ]
}
