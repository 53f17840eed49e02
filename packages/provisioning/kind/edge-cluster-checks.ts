import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  isReservedNodeLabel,
  type StatusCause,
} from '@skerry/api'
import { type EdgeCluster, type EdgeClusterSpec, type MachineBlock } from './edge-cluster.ts'
import { jumpsCauses, loginCauses, wayCauses } from './edge-cluster-ways.ts'
import { importCauses, isImport } from './edge-cluster-import.ts'
import { expandAddresses, machinesMax, addressesIn, machinesOf } from './machine-addresses.ts'
import { mastersCauses } from './masters-checks.ts'
import { clusterNameOfEdge } from './edge-cluster.ts'
import { edgeClusterBounds } from '../limits-table.ts'
import { copyCauses } from './copied-file-checks.ts'
import { optionCauses } from './edge-option-checks.ts'
import { longTextCauses } from './long-texts.ts'
import { networkCauses, serverCauses } from './network-checks.ts'
import { nodesMaxOf } from './network-size.ts'
import { packageCauses } from './package-checks.ts'
import { stepNames } from './step-names-table.ts'
import { taintCauses } from './taint-checks.ts'
import { whyNoMachine } from './unfit-addresses.ts'

const machineRoles = ['Master', 'Node', 'Witness']

const { addressCharsMax, attemptsMax, nameCharsMax, specBytesMax } = edgeClusterBounds

/** Returns everything that is wrong with an EdgeCluster, each with its field. */
export function edgeClusterCauses(object: EdgeCluster): StatusCause[] {
  const { spec } = object
  // Nothing else looks at a spec that is too large.
  const size = sizeCauses(spec)
  if (size.length > 0) return size
  const name = clusterNameOfEdge(object)
  const nameField = spec.clusterName === undefined ? 'metadata.name' : 'spec.clusterName'
  const causes = checkDnsLabel(name).map((why) => fieldInvalid(nameField, name, why))
  if (name.length > nameCharsMax) {
    causes.push(fieldInvalid(nameField, name, `must be no more than ${nameCharsMax} characters`))
  }
  causes.push(
    ...longTextCauses(spec, 'spec'),
    ...serverCauses(spec),
    ...networkCauses(spec),
    ...optionCauses(spec),
    ...packageCauses(spec),
    ...(isImport(object) ? importCauses(object) : machinesCauses(spec)),
    ...(isImport(object) ? [] : mastersCauses(spec)),
    ...ownClusterCauses(spec, name),
    ...copyCauses(spec),
    ...skipCauses(spec),
  )
  const attempts = spec.retry?.attempts
  if (attempts !== undefined && !(attempts >= 1 && attempts <= attemptsMax)) {
    const why = `must be from 1 to ${attemptsMax}`
    causes.push(fieldInvalid('spec.retry.attempts', attempts, why))
  }
  const kept = spec.deletion?.machines
  if (kept !== undefined && !['Clean', 'Keep'].includes(kept)) {
    causes.push(fieldNotSupported('spec.deletion.machines', kept, ['Clean', 'Keep']))
  }
  return causes
}

function sizeCauses(spec: Partial<EdgeClusterSpec>): StatusCause[] {
  const bytes = Buffer.byteLength(JSON.stringify(spec))
  if (bytes > specBytesMax) {
    return [fieldInvalid('spec', `${bytes} bytes`, `must be no more than ${specBytesMax} bytes`)]
  }
  const texts = (spec.machines ?? []).flatMap(
    (block: Partial<MachineBlock>) => block.addresses ?? [],
  )
  // A thousand ranges of a thousand each would keep everybody waiting while they are looked at.
  const named = texts.reduce((sum, text) => sum + addressesIn(text), 0)
  if (named <= machinesMax) return []
  return [fieldInvalid('spec.machines', named, `must be at most ${machinesMax} machines`)]
}

function machinesCauses(spec: Partial<EdgeClusterSpec>): StatusCause[] {
  const { machines = [] } = spec
  const causes = machines.flatMap((block, at) => machineBlockCauses(`spec.machines[${at}]`, block))
  causes.push(...jumpsCauses(machines))
  const planned = machinesOf(spec)
  const seen = new Set<string>()
  for (const { address } of planned) {
    if (seen.has(address)) causes.push(fieldDuplicate('spec.machines', address))
    seen.add(address)
  }
  const chars = planned.reduce((sum, { address }) => sum + address.length, 0)
  if (chars > addressCharsMax) {
    const why = `all addresses together must be no more than ${addressCharsMax} characters`
    causes.push(fieldInvalid('spec.machines', `${chars} characters`, why))
  }
  const nodesMax = nodesMaxOf(spec)
  const nodes = planned.filter(({ role }) => role !== 'Witness').length
  if (nodesMax > 0 && nodes > nodesMax) {
    const why = `the pod range has addresses for at most ${nodesMax} nodes`
    causes.push(fieldInvalid('spec.machines', nodes, why))
  }
  return causes
}

/** Returns everything that is wrong with a block. Any field may lack: the schema has checked types only. */
export function machineBlockCauses(field: string, block: Partial<MachineBlock>): StatusCause[] {
  const { addresses = [], role, credentials } = block
  const causes: StatusCause[] = []
  if (addresses.length === 0) causes.push(fieldRequired(`${field}.addresses`))
  for (const [at, text] of addresses.entries()) {
    const answer = expandAddresses(text)
    const odd = typeof answer === 'string' ? answer : unfitText(answer)
    if (odd !== undefined) causes.push(fieldInvalid(`${field}.addresses[${at}]`, text, odd))
  }
  causes.push(...loginCauses(field, block), ...wayCauses(field, block))
  if (role !== undefined && !machineRoles.includes(role)) {
    causes.push(fieldNotSupported(`${field}.role`, role, machineRoles))
  }
  const secret = credentials?.name ?? ''
  if (secret === '') causes.push(fieldRequired(`${field}.credentials.name`))
  else causes.push(...objectName(`${field}.credentials.name`, secret))
  return [...causes, ...nodeCauses(field, block)]
}

/** Labels that every node sets by what it is. */
const labelsOfNode: ReadonlySet<string> = new Set(
  ['hostname', 'os', 'arch'].flatMap((name) => [
    `kubernetes.io/${name}`,
    `beta.kubernetes.io/${name}`,
  ]),
)

/** Returns what is wrong with the labels and taints of the nodes. */
function nodeCauses(
  field: string,
  { role, labels = {}, taints = [] }: Partial<MachineBlock>,
): StatusCause[] {
  const causes: StatusCause[] = []
  for (const [key, value] of Object.entries(labels)) {
    const why = [...checkQualifiedName(key), ...checkLabelValue(value)]
    if (labelsOfNode.has(key)) why.push('is set by each node itself')
    else if (isReservedNodeLabel(key)) {
      why.push(
        'belongs to Kubernetes, and no node may give it to itself: use a domain of your own, or label the node later',
      )
    }
    causes.push(...why.map((each) => fieldInvalid(`${field}.labels`, `${key}=${value}`, each)))
  }
  if (role === 'Witness') {
    const why = 'has no meaning for a Witness, which runs no node'
    if (Object.keys(labels).length > 0) causes.push(fieldForbidden(`${field}.labels`, why))
    if (taints.length > 0) causes.push(fieldForbidden(`${field}.taints`, why))
  }
  return [...causes, ...taintCauses(`${field}.taints`, taints)]
}

/** A cluster reaches machines through its own site by another field, which waits until the site is there. */
function ownClusterCauses(
  { machines = [] }: Partial<EdgeClusterSpec>,
  name: string,
): StatusCause[] {
  return machines.flatMap(({ viaCluster }, at) => {
    if (viaCluster !== name) return []
    const why = 'is this cluster itself: set via to Site'
    return [fieldInvalid(`spec.machines[${at}].viaCluster`, viaCluster, why)]
  })
}

function skipCauses({ skipSteps = [] }: Partial<EdgeClusterSpec>): StatusCause[] {
  return skipSteps.flatMap((text, at) => {
    const [name = ''] = text.split('@')
    return stepNames.includes(name)
      ? []
      : [fieldNotSupported(`spec.skipSteps[${at}]`, text, stepNames)]
  })
}

function unfitText(addresses: readonly string[]): string | undefined {
  for (const address of addresses) {
    const why = whyNoMachine(address)
    if (why !== undefined) return `stands for ${address}, which ${why}`
  }
  return undefined
}

function objectName(field: string, name: string): StatusCause[] {
  return checkDnsSubdomain(name).map((why) => fieldInvalid(field, name, why))
}
