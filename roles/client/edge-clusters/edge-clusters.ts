import { ExpectedError, exitCodes } from '@skerry/base'
import { ifThere, resources } from '@skerry/client'
import {
  edgeClusterAsks,
  edgeClusterResource,
  isImport,
  jumpsOf,
  jumpText,
  machinesOf,
  pausedBy,
  pausePatch,
  skippableHubSteps,
  stepLogName,
  stepText,
  type EdgeCluster,
  type JumpHost,
  type MachineBlock,
  type StepStatus,
} from '@skerry/provisioning'
import { openChosenHub } from '../../admin/admin-cluster.ts'
import { stopSignal } from '../../runtime/role-context.ts'
import {
  commandClock,
  namespaceWords,
  openEdge,
  readEdge,
  soon,
  toldPlainly,
  type EdgeAccess,
  type EdgeOptions,
} from './edge-cluster-access.ts'
import { describeLines, edgeClusterLines, plainLines } from './edge-cluster-text.ts'
import { followEdge, printerOf, processOutput } from './edge-cluster-watch.ts'
import { parseHostKeys } from './machine-blocks.ts'
import { secretsThatStay } from './machine-login.ts'
import { machineResults } from './machine-results.ts'

export async function printEdgeClusters(
  options: Omit<EdgeOptions, 'name'> & { allNamespaces: boolean | undefined },
): Promise<void> {
  await toldPlainly('list edge clusters', async () => {
    const { cluster: hub } = await openChosenHub(options)
    const hasNamespaces = options.allNamespaces === true
    const request = hasNamespaces ? {} : { namespace: options.namespace }
    const { items } = await hub.resource(edgeClusterResource).list(request, soon())
    if (options.output === 'json') return console.log(JSON.stringify(items))
    if (items.length === 0) {
      const where = hasNamespaces ? '' : ` in namespace ${options.namespace}`
      return console.log(`There is no edge cluster${where}`)
    }
    for (const line of edgeClusterLines(items, { nowMs: commandClock.now(), hasNamespaces })) {
      console.log(line)
    }
  })
}

export async function printEdgeCluster(options: EdgeOptions): Promise<void> {
  await toldPlainly(`show edge cluster ${options.name}`, async () => {
    const edge = await readEdge(await openEdge(options), soon())
    const results = machineResults(edge)
    if (options.output === 'json') return console.log(JSON.stringify({ ...edge, results }))
    for (const line of describeLines(edge, commandClock.now())) console.log(line)
  })
}

/** Prints everything that the attempts of a step printed. */
export async function printStepLog(options: EdgeOptions & { step: string }): Promise<void> {
  const { name, namespace, step: asked } = options
  await toldPlainly(`read the log of step ${asked}`, async () => {
    const access = await openEdge(options)
    const edge = await readEdge(access, soon())
    const step = oneStep(edge, asked)
    const key = { namespace, name: stepLogName(name, step) }
    const kept = await ifThere(access.hub.resource(resources.configMaps).get(key, soon()))
    const log = kept?.data?.['log']
    if (log === undefined) {
      const text = `Cannot read the log of step ${stepText(step)}: no attempt has ended yet; its state is ${step.state}`
      throw new ExpectedError(text, exitCodes.failure)
    }
    if (options.output === 'json') console.log(JSON.stringify({ ...step, log }))
    else console.log(plainLines(log).trimEnd())
  })
}

function oneStep(edge: EdgeCluster, text: string): StepStatus {
  const [step, other] = stepsNamed(edge, text)
  if (step !== undefined && other === undefined) return step
  const found = stepsNamed(edge, text).map(stepText).join(', ')
  const why = `it was done on several machines: choose one of ${found}`
  throw new ExpectedError(`Cannot choose step ${text}: ${why}`, exitCodes.usage)
}

/** Returns the steps that a text such as `Preflight` or `Preflight@10.0.0.11` names. Throws an ExpectedError if none. */
function stepsNamed({ status, metadata }: EdgeCluster, text: string): StepStatus[] {
  const steps = status?.steps ?? []
  const found = steps.filter((step) => step.name === text || stepText(step) === text)
  if (found.length > 0) return found
  const why =
    steps.length === 0
      ? `${metadata.name} has no steps yet; look again in a moment`
      : `${metadata.name} has no such step; it has ${stepNames(steps)}`
  throw new ExpectedError(`Cannot find step "${text}": ${why}`, exitCodes.usage)
}

function stepNames(steps: readonly StepStatus[]): string {
  const machines = [...new Set(steps.flatMap(({ machine }) => machine ?? []))]
  const names = [...new Set(steps.map(({ name }) => name))].join(', ')
  return machines.length === 0 ? names : `${names}, and @ with one of ${machines.join(', ')}`
}

/** Asks the hub to try steps again from their first attempt; if none is named, every failed one. */
export async function retrySteps(options: EdgeOptions & { steps: readonly string[] }) {
  await ask(options, {
    annotation: edgeClusterAsks.retry,
    valuesFor(edge) {
      for (const step of options.steps) requireUndone('retry', step, stepsNamed(edge, step))
      return options.steps.length === 0 ? ['*'] : options.steps
    },
    told:
      options.steps.length === 0
        ? 'tries every failed step again'
        : `tries ${texts(options)} again`,
  })
}

function requireUndone(verb: 'retry' | 'skip', text: string, found: readonly StepStatus[]): void {
  if (found.some(({ state }) => state !== 'Done')) return
  const why = found.length === 1 ? 'it is done' : 'it is done on every machine'
  throw new ExpectedError(`Cannot ${verb} step ${text}: ${why}`, exitCodes.usage)
}

/** The hub leaves out a wish that it may not carry out, and says nothing. */
function requireSkippable(text: string, found: readonly StepStatus[]): void {
  requireUndone('skip', text, found)
  const isHubs = found.every(({ machine }) => machine === undefined)
  if (!isHubs || found.some(({ name }) => skippableHubSteps.includes(name))) return
  const why = 'the hub itself always does it: put the cause right, then retry it'
  throw new ExpectedError(`Cannot skip step ${text}: ${why}`, exitCodes.usage)
}

/** Asks the hub to count steps as done. */
export async function skipSteps(options: EdgeOptions & { steps: readonly string[] }) {
  await ask(options, {
    annotation: edgeClusterAsks.skip,
    valuesFor(edge) {
      for (const step of options.steps) requireSkippable(step, stepsNamed(edge, step))
      return options.steps
    },
    told: `skips ${texts(options)}`,
  })
}

/** Asks the hub to break off what runs and to begin nothing further. */
export async function cancelEdgeCluster(options: EdgeOptions): Promise<void> {
  const told = 'breaks off the steps that run and begins no other'
  await ask(options, { annotation: edgeClusterAsks.cancel, valuesFor: () => ['true'], told })
}

/** Accepts host keys, which the hub keeps. Throws an ExpectedError if a machine shows another key than the given one. */
export async function acceptHostKeys(options: EdgeOptions & { hostKeys: readonly string[] }) {
  await ask(options, {
    annotation: edgeClusterAsks.acceptHostKeys,
    valuesFor(edge) {
      checkHostKeys(edge, options.hostKeys)
      return options.hostKeys
    },
    told: `accepts ${options.hostKeys.join(', ')}`,
  })
}

function checkHostKeys({ spec, status }: EdgeCluster, texts: readonly string[]): void {
  const jumps = jumpsOf(spec).map((jump) => [jumpText(jump), { block: jump }] as const)
  const machines = new Map<string, { block: MachineBlock | JumpHost }>([
    ...jumps,
    ...machinesOf(spec).map((machine) => [machine.address, machine] as const),
  ])
  for (const [address, fingerprints] of parseHostKeys(texts)) {
    const fail = (why: string): ExpectedError =>
      new ExpectedError(`Cannot accept the host key of ${address}: ${why}`, exitCodes.usage)
    const machine = machines.get(address)
    const isLeaving = status?.machines?.some((each) => each.address === address) === true
    if (machine === undefined && !isLeaving) {
      throw fail(`the machines are ${[...machines.keys()].join(', ')}`)
    }
    if ((machine?.block.hostKeys ?? []).length > 0) {
      throw fail('spec.machines[].hostKeys names the keys that count: change it there')
    }
    if (fingerprints.length > 1) throw fail('give one fingerprint')
    const known = [
      ...(status?.machines ?? []).map((each) => ({ ...each, name: each.address })),
      ...(status?.jumps ?? []).map((each) => ({ ...each, name: jumpText(each) })),
    ]
    const shown = known.find(
      ({ name, unknownHostKey }) => name === address && unknownHostKey !== undefined,
    )?.unknownHostKey
    if (shown === undefined || fingerprints.includes(shown)) continue
    throw fail(`it shows ${shown}, not ${fingerprints.join(', ')}`)
  }
}

const texts = ({ steps }: { steps: readonly string[] }): string => steps.join(', ')

interface Ask {
  readonly annotation: string
  /** Returns the parts of the annotation. Throws an ExpectedError if they do not fit the cluster. */
  readonly valuesFor: (edge: EdgeCluster) => readonly string[]
  /** The clause after `The hub`. */
  readonly told: string
}

/** Writes an annotation, which the hub removes once it has acted. One that is there already is kept. */
async function ask(options: EdgeOptions, { annotation, valuesFor, told }: Ask): Promise<void> {
  await toldPlainly(`change edge cluster ${options.name}`, async () => {
    const access = await openEdge(options)
    const edge = await readEdge(access, soon())
    const known = edge.metadata.annotations?.[annotation]?.split(',') ?? []
    const value = [...new Set([...known, ...valuesFor(edge)])].join(',')
    await change(access, { metadata: { annotations: { [annotation]: value } } })
    report(options, told, { [annotation]: value })
  })
}

async function change({ client, key }: EdgeAccess, patch: object): Promise<void> {
  await client.patch({ ...key, type: 'merge', patch }, soon())
}

function report({ name, namespace, output }: EdgeOptions, told: string, facts: object): void {
  if (output === 'json') return console.log(JSON.stringify({ name, namespace, ...facts }))
  const place = namespaceWords(namespace)
  console.log(`The hub ${told}; see "skerry edge-cluster watch ${name}${place}"`)
}

/** Lets the hub begin no further step, or lets it continue. */
export async function pauseEdgeCluster(options: EdgeOptions, paused: boolean): Promise<void> {
  await toldPlainly(`${paused ? 'pause' : 'resume'} edge cluster ${options.name}`, async () => {
    const access = await openEdge(options)
    await readEdge(access, soon())
    await change(access, pausePatch(paused))
    const told = paused ? 'ends the steps that run and begins no other' : 'continues'
    report(options, told, { paused })
  })
}

/** Lets the hub make a cluster that it has checked alone so far. */
export async function makeChecked(options: EdgeOptions): Promise<void> {
  await toldPlainly(`make edge cluster ${options.name}`, async () => {
    const access = await openEdge(options)
    await readEdge(access, soon())
    await change(access, { spec: { mode: 'Make' } })
    report(options, 'makes it', { mode: 'Make' })
  })
}

export interface DeleteOptions extends EdgeOptions {
  keepMachines: boolean | undefined
  wait: boolean | undefined
}

/** Deletes an edge cluster: its machines are cleaned, or left running. */
export async function deleteEdgeCluster(options: DeleteOptions): Promise<void> {
  const { name, output } = options
  await toldPlainly(`delete edge cluster ${name}`, async () => {
    const access = await openEdge(options)
    const edge = await readEdge(access, soon())
    const { spec } = edge
    if (options.keepMachines && isImport(edge)) {
      const why = '--keep-machines is for clusters made of machines; this one was imported'
      throw new ExpectedError(`Cannot delete edge cluster ${name}: ${why}`, exitCodes.usage)
    }
    if (options.keepMachines) await change(access, { spec: { deletion: { machines: 'Keep' } } })
    const logins = [...spec.machines, ...jumpsOf(spec)].map(({ credentials }) => credentials.name)
    const named = [...new Set(logins)]
    const secrets = named.filter(await secretsThatStay(access.hub, access.key, soon()))
    const isKept = options.keepMachines === true || spec.deletion?.machines === 'Keep'
    await access.client.delete(access.key, soon())
    const cleans = isImport(edge) ? 'removes the agent from the cluster' : 'cleans the machines'
    const begins = pausedBy(edge) !== undefined ? ', once it is resumed' : ''
    const told = `${isKept ? 'forgets it and leaves the machines running' : cleans}${begins}`
    if (options.wait) {
      const show = printerOf(output, processOutput())
      await followEdge(access, show, stopSignal(), { isLeaving: true })
    } else report(options, told, { machines: isKept ? 'Keep' : 'Clean' })
    if (output === 'json' || secrets.length === 0) return
    const when = options.wait ? '' : ' once the cluster is gone'
    const [stay, them] = secrets.length === 1 ? ['stays', 'it'] : ['stay', 'them']
    console.log(
      `Secret ${secrets.join(', ')} ${stay}: delete ${them} if nothing else uses ${them}${when}`,
    )
  })
}
