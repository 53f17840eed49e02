/** The form of an edge cluster, and the object that it stands for. Pure. */
import type { FieldFault } from '../../data/hub-error.ts'

export interface MachineForm {
  /** The place of the block in the form, kept while others come and go. */
  readonly id: number
  /** Addresses, separated by commas or spaces; `10.0.0.[11-14]` stands for four. */
  readonly addresses: string
  readonly port: string
  readonly user: string
  readonly role: 'Master' | 'Node' | 'Witness'
  /** The name of the Secret with the login. */
  readonly secret: string
  readonly hostKey: string
  readonly acceptsNewKeys: boolean
  /** `key=value`, separated by commas. */
  readonly labels: string
}

export interface ClusterForm {
  readonly name: string
  readonly namespace: string
  readonly displayName: string
  readonly podCIDR: string
  readonly serviceCIDR: string
  readonly dnsDomain: string
  readonly podsPerNode: string
  readonly apiNames: string
  readonly mastersTakeWorkloads: boolean
  readonly networkInterface: string
  readonly version: string
  readonly store: 'SQLite' | 'Etcd'
  /** How clients from outside reach the masters. */
  readonly reach: 'None' | 'VirtualIP' | 'Balancer'
  readonly reachAddress: string
  /** The port of a balancer. */
  readonly reachPort: string
  readonly machines: readonly MachineForm[]
}

export function emptyMachine(id: number, role: MachineForm['role']): MachineForm {
  return {
    id,
    addresses: '',
    port: '',
    user: '',
    role,
    secret: '',
    hostKey: '',
    acceptsNewKeys: false,
    labels: '',
  }
}

export const emptyForm: ClusterForm = {
  name: '',
  namespace: 'default',
  displayName: '',
  podCIDR: '',
  serviceCIDR: '',
  dnsDomain: '',
  podsPerNode: '',
  apiNames: '',
  mastersTakeWorkloads: true,
  networkInterface: '',
  version: '',
  store: 'SQLite',
  reach: 'None',
  reachAddress: '',
  reachPort: '',
  machines: [emptyMachine(1, 'Master')],
}

/** Returns the object of a form. Empty fields are left out, so that the hub's defaults hold. */
export function edgeClusterOf(form: ClusterForm): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: form.name, namespace: form.namespace },
    spec: filled({
      displayName: form.displayName,
      version: form.version,
      networkInterface: form.networkInterface,
      network: filled({
        podCIDR: form.podCIDR,
        serviceCIDR: form.serviceCIDR,
        dnsDomain: form.dnsDomain,
        podsPerNode: numberOf(form.podsPerNode),
      }),
      apiNames: wordsOf(form.apiNames),
      mastersTakeWorkloads: form.mastersTakeWorkloads ? undefined : false,
      store: form.store === 'SQLite' ? undefined : { type: form.store },
      highAvailability: highAvailabilityOf(form),
      machines: form.machines.map(machineOf),
    }),
  }
}

function highAvailabilityOf({ reach, reachAddress, reachPort }: ClusterForm): unknown {
  if (reach === 'None') return undefined
  const port = reach === 'Balancer' ? numberOf(reachPort) : undefined
  return filled({ type: reach, address: reachAddress.trim(), port })
}

function machineOf(machine: MachineForm): unknown {
  return filled({
    addresses: wordsOf(machine.addresses) ?? [],
    port: numberOf(machine.port),
    user: machine.user,
    role: machine.role === 'Node' ? undefined : machine.role,
    credentials: { name: machine.secret },
    hostKeys: wordsOf(machine.hostKey),
    acceptNewHostKeys: machine.acceptsNewKeys ? true : undefined,
    labels: labelsOf(machine.labels),
  })
}

function filled(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isFilled = (value: unknown): boolean =>
    value !== undefined && value !== '' && !isEmptyObject(value)
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isFilled(value)))
}

function isEmptyObject(value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject && Object.keys(value).length === 0
}

/** A text other than a number is sent as it is: the hub's answer then names the field. */
function numberOf(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed
}

function wordsOf(text: string): string[] | undefined {
  const words = text.split(/[\s,]+/).filter(Boolean)
  return words.length === 0 ? undefined : words
}

function labelsOf(text: string): Record<string, string> | undefined {
  const words = wordsOf(text)
  if (words === undefined) return undefined
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}

/** The hub's faults by the field of the form; the rest, which fits no field, by the empty text. */
export function faultsByField(faults: readonly FieldFault[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const { field, message } of faults) {
    const key = formField(field)
    const before = found.get(key)
    // A name that becomes two names is refused twice, in the same words.
    if (before?.includes(message)) continue
    found.set(key, before === undefined ? message : `${before}; ${message}`)
  }
  return found
}

const machineFields: Readonly<Record<string, keyof MachineForm>> = {
  addresses: 'addresses',
  port: 'port',
  user: 'user',
  role: 'role',
  credentials: 'secret',
  hostKeys: 'hostKey',
  acceptNewHostKeys: 'hostKey',
  labels: 'labels',
}

const clusterFields: Readonly<Record<string, keyof ClusterForm>> = {
  'spec.store.type': 'store',
  'spec.highAvailability.type': 'reach',
  'spec.highAvailability.address': 'reachAddress',
  'spec.highAvailability.port': 'reachPort',
}

/** `spec.machines[1].addresses[0]` is `machines.1.addresses`. */
function formField(field: string): string {
  const [, index, name = ''] = /^spec\.machines\[(\d+)\]\.?(\w*)/.exec(field) ?? []
  if (index !== undefined) return `machines.${index}.${machineFields[name] ?? 'addresses'}`
  const known = clusterFields[field]
  if (known !== undefined) return known
  const [, inner = ''] = /^(?:metadata|spec(?:\.network)?)\.(\w+)/.exec(field) ?? []
  return inner in emptyForm ? inner : ''
}
