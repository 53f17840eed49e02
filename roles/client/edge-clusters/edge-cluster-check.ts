import { ExpectedError, exitCodes } from '@skerry/base'
import { machinesOf, type EdgeCluster } from '@skerry/provisioning'
import { stopSignal } from '../../runtime/role-context.ts'
import { tableLines } from '../text/print-table.ts'
import { namespaceWords, readEdge, soon, type EdgeAccess } from './edge-cluster-access.ts'
import { phaseOf } from './edge-cluster-text.ts'
import { endOf } from './edge-cluster-end.ts'
import { followEdge, printerOf, processOutput } from './edge-cluster-watch.ts'
import { plainText } from '../text/plain-text.ts'
import { machineResults, type MachineResult } from './machine-results.ts'

/** A step that would be done, and the machines on which; none for a step of the hub. */
interface PlannedStep {
  readonly step: string
  readonly does: string
  readonly machines: readonly string[]
}

interface CheckOptions {
  readonly output: string | undefined
  /** Whether the object stays, so that it can be made later. */
  readonly keep: boolean | undefined
}

/** Follows an edge cluster of mode Check to its end, and prints the result. Throws an ExpectedError if a machine is not fit. */
export async function reportCheck(access: EdgeAccess, options: CheckOptions): Promise<void> {
  const { output, keep } = options
  const show = output === 'json' ? () => undefined : printerOf(output, processOutput())
  await followEdge(access, show, stopSignal(), { until: isChecked })
  const edge = await readEdge(access, soon())
  const machines = machineResults(edge)
  const plan = plannedSteps(edge)
  const object = objectFindings(edge)
  const { name, namespace } = access.key
  if (output === 'json') {
    console.log(JSON.stringify({ name, namespace, phase: phaseOf(edge), object, machines, plan }))
  } else for (const line of checkLines({ object, machines, plan })) console.log(line)
  const unfit = machines.filter(({ state }) => state !== 'Checked')
  if (unfit.length > 0) {
    const text = `Cannot make edge cluster ${name}: ${unfit.length} of ${machines.length} machines are not fit: ${unfit.map(({ address }) => address).join(', ')}`
    throw new ExpectedError(text, exitCodes.failure)
  }
  if (object.length > 0) {
    const text = `Cannot make edge cluster ${name}: ${object.join('; ')}`
    throw new ExpectedError(text, exitCodes.failure)
  }
  if (keep && output !== 'json') {
    console.log(`Make it with "skerry edge-cluster make ${name}${namespaceWords(namespace)}"`)
  }
}

/** Removes an edge cluster that was checked alone, and resolves when it is gone. Its machines hold nothing of it. */
export async function removeCheck(access: EdgeAccess): Promise<void> {
  await access.client.delete(access.key, soon())
  // A person who has stopped the command still gets it removed, so this has a time of its own.
  await followEdge(access, () => undefined, soon(), { isLeaving: true })
}

/** A host key that nobody has accepted is a result of a check, too: it does not wait for a person. */
function isChecked(edge: EdgeCluster): boolean {
  if (endOf(edge) !== undefined) return true
  if (phaseOf(edge) !== 'Waiting') return false
  const { steps = [], observedGeneration = 0 } = edge.status ?? {}
  const isCurrent = observedGeneration >= (edge.metadata.generation ?? 0)
  return (
    isCurrent && !steps.some(({ state, nextTime }) => state === 'Running' || nextTime !== undefined)
  )
}

function plannedSteps({ spec, status }: EdgeCluster): PlannedStep[] {
  const machines = machinesOf(spec)
  const on = {
    Hub: [],
    // One of several masters does it.
    Master: machines.filter(({ role }) => role === 'Master').slice(0, 1),
    Machines: machines,
  }
  return (status?.plan ?? []).map(({ name, does, where }) => ({
    step: name,
    does,
    machines: on[where].map(({ address }) => address),
  }))
}

/** Returns the findings on the object itself, by which no machine is unfit. */
function objectFindings({ status }: EdgeCluster): string[] {
  const failed = (status?.steps ?? []).filter(
    ({ machine, state }) => machine === undefined && state === 'Failed',
  )
  return failed.flatMap(({ findings, message = '' }) => (findings ?? [message]).map(plainText))
}

interface CheckResult {
  readonly object: readonly string[]
  readonly machines: readonly MachineResult[]
  readonly plan: readonly PlannedStep[]
}

/** Formats the findings on the object and each machine, and the steps in their order. */
function checkLines({ object, machines, plan }: CheckResult): string[] {
  const found = machines.flatMap(({ address, state, step = '', message, findings = [] }) => {
    if (state === 'Checked') return [`${address}: fit (${message})`]
    if (findings.length === 0) return [`${address}: ${state} at ${step}: ${message}`]
    const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`
    return [`${address}: ${count}`, ...findings.map((each) => `  - ${each}`)]
  })
  const rows = plan.map(({ step, does, machines: on }, at) => [
    `${at + 1}.`,
    step,
    placeText(on, machines.length),
    does,
  ])
  return ['', ...object, ...found, '', 'Steps that would be done:', ...tableLines(rows, [])]
}

const shownAddresses = 3

function placeText(addresses: readonly string[], all: number): string {
  if (addresses.length === 0) return 'hub'
  if (addresses.length <= shownAddresses) return addresses.join(', ')
  return addresses.length === all ? `all ${all} machines` : `${addresses.length} machines`
}
