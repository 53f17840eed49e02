import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes, type Connect } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import { ifThere, readBody } from '@skerry/client'
import { clusterResource, conditionOf, conditionTypes } from '@skerry/fleet-kinds'
import {
  addressOf,
  apiPortDefault,
  nodeNameOf,
  places,
  startNode,
  startSiteOf,
  type JoinToken,
  type OwnMachineContext,
} from '@skerry/provisioning'
import { openAdminCluster } from '../../admin/admin-cluster.ts'
import { createJoinToken } from '../../admin/join-token.ts'
import { machineBounds } from '../limits-table.ts'
import type { JoinOptions } from './join-options.ts'
import { asHeld, nodeLook } from './node-state.ts'
import { firstSteps, inOrder, ownMachine, type JoinDeps } from './own-machine.ts'
import { untilReady } from './until-ready.ts'

export interface JoinSiteOptions extends JoinOptions {
  /** Further options of `skerry site`. */
  readonly siteOptions: readonly string[]
}

const siteDirectory = join(places.data, 'site')
const ownKubeconfig = join(siteDirectory, 'admin.kubeconfig')

/**
 * Makes this machine, which has the program and nothing else, a site of a hub with a node, and waits until both are
 * Ready. Done again, it does what is missing. Rejects with an ExpectedError that says what to do.
 */
export async function joinThisSite(options: JoinSiteOptions, deps: JoinDeps): Promise<void> {
  const { clusterName, siteOptions, server, token, caHash, apiPort, way } = options
  checkSiteOptions(siteOptions)
  const joining = await ownMachine('Master', options, deps)
  const { context, connect } = joining
  const nodeName = await nodeNameOf(context)
  const tokenCommand = `skerry cluster join-command ${clusterName} --machine`
  const { networkInterface } = options
  const place = { address: context.machine.address, networkInterface }
  // A bare machine has no program that lists its addresses before its packages are installed.
  const ownServer = async (): Promise<string> =>
    `https://${await addressOf(context.shell, place, deps.signal)}:${apiPort}`
  const words = [
    ...(apiPort === apiPortDefault ? [] : ['--port', String(apiPort)]),
    ...(way.isInspected ? ['--inspected-tls'] : []),
    ...siteOptions,
  ]
  const steps = [
    ...firstSteps(options, { ...joining, nodeName }, { tokenCommand, deps }),
    {
      does: 'start the control plane',
      act: () => startSiteOf({ server, token, caHash }, words, context),
    },
    { does: 'wait until the control plane serves', act: () => untilSiteServes(context) },
    {
      does: 'start the node',
      act: async () => startNode(await ownToken(await ownServer(), context), context),
    },
    {
      does: 'wait until the node runs pods',
      async act() {
        const look = nodeLook({ nodeName, server: await ownServer() }, context, deps)
        await untilReady({ what: `node ${nodeName}`, unit: 'skerry-node', look }, context)
        await rm(places.joinToken, { force: true })
        return `node ${nodeName} is Ready`
      },
    },
    {
      does: 'wait until the hub reaches the cluster',
      async act() {
        const look = hubLook(options, connect, deps)
        await untilReady({ what: `cluster ${clusterName}`, unit: 'skerry-site', look }, context)
        await rm(places.hubToken, { force: true })
        return `cluster ${clusterName} is Ready on the hub`
      },
    },
  ]
  await inOrder(steps, context.shell, deps)
}

/** The options that the line itself decides. */
const decided =
  /^--(data-dir|name|hub|hub-token-file|hub-ca-hash|port|cluster-cidr|service-cidr|cluster-domain|proxy|proxy-credentials-file|inspected-tls)(=|$)/

function checkSiteOptions(words: readonly string[]): void {
  const wrong = words.find((word) => decided.test(word) || !/^[\w.,:/@=+-]+$/.test(word))
  if (wrong === undefined) return
  const text = `Cannot join: the site cannot be started with "${wrong}": ${decided.test(wrong) ? 'this option is decided already' : 'options of a unit have letters, digits and .,:/@=+- only'}`
  throw new ExpectedError(text, exitCodes.usage)
}

async function untilSiteServes(context: OwnMachineContext): Promise<string> {
  const look = async (signal: AbortSignal): Promise<string | undefined> => {
    if ((await readFileIfPresent(ownKubeconfig)) === undefined) return 'the control plane starts'
    const { cluster } = await ownCluster()
    const request = { method: 'GET', path: '/readyz', headers: {} } as const
    const { status, body } = await cluster.raw(request, signal)
    // A connection with an unread answer would keep this process for as long as the server keeps the connection.
    await readBody(body)
    return status === 200 ? undefined : `the control plane answers ${status}`
  }
  await untilReady({ what: 'the control plane', unit: 'skerry-site', look }, context)
  return 'the control plane serves'
}

function ownCluster(): ReturnType<typeof openAdminCluster> {
  return openAdminCluster(ownKubeconfig)
}

async function ownToken(
  server: string,
  { clock, conceal, signal }: OwnMachineContext,
): Promise<JoinToken> {
  const { cluster, caPem } = await ownCluster()
  const made = await createJoinToken(
    cluster,
    {
      server,
      caPem,
      ttlSeconds: machineBounds.thisSite.tokenTtlSeconds,
      description: 'made by skerry machine join-site for its own node',
    },
    { clock },
    signal,
  )
  conceal([made.token])
  return made
}

/** Returns how far the cluster is on the hub, as its agent sees it there; undefined once it is Ready. */
function hubLook(
  { clusterName, server }: JoinSiteOptions,
  connect: Connect,
  deps: JoinDeps,
): (signal: AbortSignal) => Promise<string | undefined> {
  const held = { directory: join(siteDirectory, 'agent'), name: 'agent', server, connect }
  const waits = `the agent registers at the hub; if it waits there, run "skerry cluster accept ${clusterName}" on the hub`
  return (signal) =>
    asHeld(held, deps, waits, async (hub) => {
      const name = clusterName
      const found = await ifThere(hub.resource(clusterResource).get({ name }, signal))
      const ready = conditionOf(found?.status?.conditions, conditionTypes.ready)
      if (ready?.status === 'True') return undefined
      return ready?.message ?? 'the hub has not reached the cluster yet'
    })
}
