import {
  checkDnsLabel,
  checkDnsSubdomain,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type Schema,
  type StatusCause,
} from '@skerry/api'
import { edgeClusterBounds } from '../limits-table.ts'
import type { JumpHost, JumpStatus } from './block-way.ts'
import { hostKeyPattern, type EdgeClusterSpec, type MachineBlock } from './edge-cluster.ts'
import { expandAddresses } from './machine-addresses.ts'
import { whyNoMachine } from './unfit-addresses.ts'

/** Returns the name of a jump host in messages and asks: its address, with the port unless that is 22. */
export function jumpText({ address, port = 22 }: Pick<JumpHost, 'address' | 'port'>): string {
  return port === 22 ? address : `${address}:${port}`
}

/** Returns every jump host of a cluster once. */
export function jumpsOf({ machines = [] }: Partial<EdgeClusterSpec>): JumpHost[] {
  const found = machines.flatMap(({ jump }) => jump ?? [])
  return [...new Map(found.map((jump) => [jumpText(jump), jump])).values()]
}

/** Returns the jump hosts before these machines with what is known of them. */
export function jumpStatuses(
  machines: readonly { readonly block: MachineBlock }[],
  known: readonly JumpStatus[] = [],
): JumpStatus[] {
  return jumpsOf({ machines: machines.map(({ block }) => block) }).map(
    ({ address, port = 22 }) => ({
      ...known.find((each) => jumpText(each) === jumpText({ address, port })),
      address,
      port,
    }),
  )
}

const text: Schema = { type: 'string' }

/** The fields of a block, by which its machines are reached. */
export function waySchemas(part: (name: string) => Schema): Readonly<Record<string, Schema>> {
  return { jump: part('JumpHost'), via: text, viaCluster: text }
}

export const jumpHostSchema: Schema = {
  type: 'object',
  required: ['address', 'credentials'],
  properties: {
    address: text,
    port: { type: 'integer', format: 'int32' },
    user: text,
    credentials: { ref: 'io.k8s.api.core.v1.LocalObjectReference' },
    hostKeys: { type: 'array', items: text },
    acceptNewHostKeys: { type: 'boolean' },
  },
}

export const jumpStatusSchema: Schema = {
  type: 'object',
  required: ['address', 'port'],
  properties: {
    address: text,
    port: { type: 'integer', format: 'int32' },
    hostKey: text,
    unknownHostKey: text,
  },
}

/** Returns everything that is wrong with the way to the machines of a block. */
export function wayCauses(field: string, block: Partial<MachineBlock>): StatusCause[] {
  const { jump, via, viaCluster, role } = block
  const causes: StatusCause[] = []
  const given = Object.entries({ jump, via, viaCluster }).filter(([, way]) => way !== undefined)
  for (const [name] of given.slice(1)) {
    const why = `may not be set together with ${given[0]?.[0]}: machines have one way`
    causes.push(fieldForbidden(`${field}.${name}`, why))
  }
  if (jump !== undefined) causes.push(...jumpCauses(`${field}.jump`, jump))
  if (via !== undefined && via !== 'Site') {
    causes.push(fieldNotSupported(`${field}.via`, via, ['Site']))
  }
  if (via === 'Site' && role === 'Master') {
    const why = 'a Master cannot be reached through the site that runs on it'
    causes.push(fieldForbidden(`${field}.via`, why))
  }
  if (viaCluster !== undefined) {
    const why = checkDnsLabel(viaCluster)
    causes.push(...why.map((each) => fieldInvalid(`${field}.viaCluster`, viaCluster, each)))
    if (viaCluster.length > edgeClusterBounds.nameCharsMax) {
      const long = `must be no more than ${edgeClusterBounds.nameCharsMax} characters`
      causes.push(fieldInvalid(`${field}.viaCluster`, viaCluster, long))
    }
  }
  return causes
}

/** A jump host is logged in to once, whatever the machines behind it are. */
export function jumpsCauses(machines: readonly Partial<MachineBlock>[]): StatusCause[] {
  const known = new Map<string, { readonly at: number; readonly login: string }>()
  return machines.flatMap(({ jump }, at) => {
    if (jump === undefined) return []
    const login = `${jump.user ?? 'root'} ${jump.credentials?.name ?? ''}`
    const before = known.get(jumpText(jump))
    known.set(jumpText(jump), before ?? { at, login })
    if (before === undefined || before.login === login) return []
    const why = `has another user or Secret than in spec.machines[${before.at}]: a jump host has one login`
    return [fieldInvalid(`spec.machines[${at}].jump`, jumpText(jump), why)]
  })
}

function jumpCauses(field: string, jump: Partial<JumpHost>): StatusCause[] {
  const causes = addressCauses(`${field}.address`, jump.address)
  causes.push(...loginCauses(field, jump))
  const secret = jump.credentials?.name ?? ''
  if (secret === '') causes.push(fieldRequired(`${field}.credentials.name`))
  else {
    const why = checkDnsSubdomain(secret)
    causes.push(...why.map((each) => fieldInvalid(`${field}.credentials.name`, secret, each)))
  }
  return causes
}

function addressCauses(field: string, address: string | undefined): StatusCause[] {
  if (address === undefined || address === '') return [fieldRequired(field)]
  const expanded = expandAddresses(address)
  if (typeof expanded === 'string' || expanded.length !== 1 || expanded[0] !== address) {
    return [fieldInvalid(field, address, 'must be one IPv4 address or DNS name in lower case')]
  }
  const why = whyNoMachine(address)
  return why === undefined ? [] : [fieldInvalid(field, address, why)]
}

/** Returns what is wrong with the port, the user and the host keys of a login. */
export function loginCauses(
  field: string,
  { port, user, hostKeys = [] }: Pick<JumpHost, 'port' | 'user' | 'hostKeys'>,
): StatusCause[] {
  const causes: StatusCause[] = []
  if (port !== undefined && !(port >= 1 && port <= 65_535)) {
    causes.push(fieldInvalid(`${field}.port`, port, 'must be from 1 to 65535'))
  }
  if (user !== undefined && !/^[a-z_][a-z0-9_.-]{0,31}$/i.test(user)) {
    causes.push(fieldInvalid(`${field}.user`, user, 'must be the name of a user on the machine'))
  }
  for (const [at, key] of hostKeys.entries()) {
    if (hostKeyPattern.test(key)) continue
    const why = 'must be a fingerprint such as ssh-keygen -lf prints: SHA256:<43 characters>'
    causes.push(fieldInvalid(`${field}.hostKeys[${at}]`, key, why))
  }
  return causes
}
