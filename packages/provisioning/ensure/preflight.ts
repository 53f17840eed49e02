import { clusterNameOfEdge } from '../kind/edge-cluster.ts'
import { isOnEtcd } from '../kind/masters-checks.ts'
import { packageInForce } from '../kind/package-in-force.ts'
import { isIP } from 'node:net'
import { provisioningBounds } from '../limits-table.ts'
import { StepError, type MachineContext, type OwnMachineContext } from '../contract/step.ts'
import { ask, ownAddresses } from './commands.ts'
import { machineClashes, machineIdDigest, nodeClashes, nodesOfSite } from './preflight-clashes.ts'
import { isLeaving, otherOwnerOf, stillTaken } from './node-name.ts'
import {
  clusterOf,
  findingsOf,
  isNodeName,
  parseFacts,
  roleFindings,
  type Facts,
} from './preflight-facts.ts'
import { hubFindings, networkFindings } from './preflight-network.ts'
import { lookAtPackage, type SeenPackage } from './package-findings.ts'
import { factsScript } from './preflight-script.ts'
import { isProxied } from './proxy.ts'
import { virtualIpFinding } from './virtual-ip-holder.ts'

const { factsBytesMax, factsMsMax } = provisioningBounds.preflight

/** Checks a machine before anything is changed on it. */
export async function preflight(context: MachineContext): Promise<string> {
  const facts = await readFacts(context, askedNames(context))
  const clashes = await clashesOf(facts, context)
  const seen = await lookAtPackage(facts, context)
  const isMember = clusterOf(facts) === clusterNameOfEdge(context.edge)
  const held = await virtualIpFinding(context, { isMember })
  const findings = [...clashes, ...roleFindings(facts), ...seen.findings]
  if (held !== undefined) findings.push(held)
  // The others join a site that reaches its hub.
  if (context.machine.address === context.master.address) {
    findings.push(...hubFindings(context.hub.server(context.edge), context.edge))
  }
  return judge(facts, { ...seen, findings }, context)
}

/** The same for a machine that joins by itself: its server has answered it, and judges its name. */
export async function preflightOfOwn(context: OwnMachineContext): Promise<string> {
  const { edge } = context
  const needsMirrors = edge.spec.proxy === undefined && packageInForce(edge) === undefined
  const facts = await readFacts(context, ['', needsMirrors ? 'mirrors' : ''])
  return judge(facts, { findings: [] }, context)
}

async function readFacts(context: OwnMachineContext, names: [string, string]): Promise<Facts> {
  const { machine, print } = context
  const command = ['sh', '-c', factsScript, 'sh', ...names] as const
  const text = await ask(context, command, { timeoutMs: factsMsMax })
  if (text.length > factsBytesMax) {
    const why = `${machine.address} printed over ${factsBytesMax} bytes instead of a few facts about itself`
    throw new StepError(why, { isFinal: true })
  }
  const facts = parseFacts(text)
  for (const name of ['os', 'architecture', 'kernel', 'host', 'processors', 'memory', 'disk']) {
    print(`${name}: ${facts.get(name)?.[0] ?? ''}`)
  }
  return facts
}

function judge(facts: Facts, others: SeenPackage, context: OwnMachineContext): string {
  const { machine, machines, edge, clock, print, apiPort } = context
  const clusterName = clusterNameOfEdge(edge)
  const { role } = machine
  const hasMember = role === 'Witness' || (role === 'Master' && isOnEtcd(edge.spec))
  const { hasEtcd } = others
  const judged = { role, hasMember, clusterName, nowMs: clock.now(), apiPort, hasEtcd }
  const findings = [
    ...findingsOf(facts, judged),
    ...networkFindings(facts, {
      edge,
      role,
      hasMember,
      apiPort,
      hasOthers: machines.length > 1,
      isMember: clusterOf(facts) === clusterName,
    }),
    ...others.findings,
  ]
  if (findings.length > 0) {
    for (const finding of findings) print(finding)
    const isFinal = true
    throw new StepError(`${machine.address}: ${findings.join('; ')}`, { isFinal, findings })
  }
  const host = machines.length > 1 ? `, host ${facts.get('host')?.[0] ?? ''}` : ''
  return `${facts.get('os')?.[0] ?? ''}, ${facts.get('architecture')?.[0] ?? ''}${host}`
}

/**
 * Returns the words for the script: the name of the hub, and whether mirrors must be known. A proxy knows both, and an
 * offline package needs no mirror.
 */
function askedNames({ machine, machines, hub, edge }: MachineContext): [string, string] {
  const url = new URL(hub.server(edge))
  const isAsked = machine.role === 'Master' && isIP(url.hostname) === 0
  const hubName = isAsked && !isProxied(url, edge, machines) ? url.hostname : ''
  const needsMirrors = edge.spec.proxy === undefined && packageInForce(edge) === undefined
  return [hubName, needsMirrors ? 'mirrors' : '']
}

/** Remembers who the machine is, and compares it with the others. */
async function clashesOf(facts: Facts, context: MachineContext): Promise<string[]> {
  const { machine, machines, known, record } = context
  const node = facts.get('host')?.[0]?.toLowerCase() ?? ''
  // A machine says what it likes; a name that is none has a finding already.
  if (!isNodeName(node)) return []
  const digest = machineIdDigest(facts.get('machine-id')?.[0] ?? '')
  const own = { address: machine.address, node, machineIdDigest: digest }
  const staying = known().filter((each) => !isLeaving(each, machines))
  const found = machineClashes(own, staying)
  const owner = otherOwnerOf(node, context)
  // Nobody need do anything about a machine that leaves: the next attempt comes after it.
  if (owner !== undefined && isLeaving(owner, machines)) throw stillTaken(node, owner)
  record({ node, ...(digest === undefined ? {} : { machineIdDigest: digest }) })
  const leaving = new Set(known().flatMap((each) => (isLeaving(each, machines) ? [each.node] : [])))
  const nodes = (await nodesOfSite(context)).filter(({ name }) => !leaving.has(name))
  if (nodes.length === 0) return found
  const addresses = await ownAddresses(context.shell, context.signal)
  return [...new Set([...found, ...nodeClashes(own, nodes, [...addresses, machine.address])])]
}
