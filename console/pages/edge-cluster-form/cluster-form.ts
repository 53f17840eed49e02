/** The form of an edge cluster, and the object that it stands for. Pure. */
import { filled, labelsOf, numberOf, wordsOf } from '../../data/browser/form-values.ts'
import type { FieldFault } from '../../data/hub/hub-error.ts'
import {
  emptyLogin,
  isLoginComplete,
  loginData,
  type LoginForm,
  type LoginSecret,
} from '../../data/hub/login-secret.ts'

export interface MachineForm {
  /** The place of the block in the form, kept while others come and go. */
  readonly id: number
  /** Addresses, separated by commas or spaces; `10.0.0.[11-14]` stands for four. */
  readonly addresses: string
  readonly port: string
  readonly user: string
  readonly role: 'Master' | 'Node' | 'Witness'
  readonly login: LoginForm
  /** Has the login of the first block. */
  readonly sharesLogin: boolean
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
    login: emptyLogin,
    sharesLogin: false,
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

/**
 * Returns the object of a form. Empty fields are left out, so that the hub's defaults hold. Logins are in Secrets, which the
 * object only names. `mode` Check lets the hub look at the machines, and make nothing.
 */
export function edgeClusterOf(
  form: ClusterForm,
  mode?: 'Check',
): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: form.name, namespace: form.namespace },
    spec: filled({
      mode,
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
      machines: form.machines.map((machine, at) => machineOf(machine, secretName(form, at))),
    }),
  }
}

function highAvailabilityOf({ reach, reachAddress, reachPort }: ClusterForm): unknown {
  if (reach === 'None') return undefined
  const port = reach === 'Balancer' ? numberOf(reachPort) : undefined
  return filled({ type: reach, address: reachAddress.trim(), port })
}

/** Returns the name of the Secret with the login of a block. */
function secretName(form: ClusterForm, at: number): string {
  const machine = form.machines[at]
  if (machine === undefined) return ''
  if (machine.sharesLogin && at > 0) return secretName(form, 0)
  if (machine.login.kind === 'secret') return machine.login.secret.trim()
  return at === 0 ? `${form.name}-ssh` : `${form.name}-ssh-${at + 1}`
}

/** Lists the Secrets that the form makes, with what was typed into it. */
export function loginsOf(form: ClusterForm): LoginSecret[] {
  return form.machines.flatMap(({ login, sharesLogin }, at) => {
    const data = sharesLogin && at > 0 ? undefined : loginData(login)
    if (data === undefined) return []
    const { name: edgeName, namespace } = form
    return [{ namespace, name: secretName(form, at), edgeName, data }]
  })
}

/** Reports whether every block has a login, which the hub can only find out when it logs in. */
export function hasLogins({ machines }: ClusterForm): boolean {
  return machines.every(
    ({ login, sharesLogin }, at) => (sharesLogin && at > 0) || isLoginComplete(login),
  )
}

function machineOf(machine: MachineForm, secret: string): unknown {
  return filled({
    addresses: wordsOf(machine.addresses) ?? [],
    port: numberOf(machine.port),
    user: machine.user,
    role: machine.role === 'Node' ? undefined : machine.role,
    credentials: { name: secret },
    hostKeys: wordsOf(machine.hostKey),
    acceptNewHostKeys: machine.acceptsNewKeys ? true : undefined,
    labels: labelsOf(machine.labels),
  })
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
  credentials: 'login',
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
