import type { MachineRole } from '../kind/edge-cluster.ts'
import { provisioningBounds } from '../limits-table.ts'
import { apiPortDefault } from '../kind/made-masters.ts'

const bounds = provisioningBounds.preflight

/** The facts of a machine by name. A name may come several times. */
export type Facts = ReadonlyMap<string, readonly string[]>

export function parseFacts(text: string): Facts {
  const facts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const at = line.indexOf(' ')
    if (at <= 0) continue
    const name = line.slice(0, at)
    const known = facts.get(name) ?? []
    known.push(line.slice(at + 1).trim())
    facts.set(name, known)
  }
  return facts
}

interface Judged {
  readonly role: MachineRole
  /** Whether the machine runs a member of the site's etcd. */
  readonly hasMember: boolean
  readonly clusterName: string
  /** The hub's time, in milliseconds since the Unix epoch. */
  readonly nowMs: number
  /** If omitted, the port of all sites. */
  readonly apiPort?: number | undefined
  /** Whether the object's offline package brings an etcd; undefined for an object without a package. */
  readonly hasEtcd?: boolean | undefined
}

/** Returns the findings, each of which says what is wrong and what to do; an empty list if nothing is. */
export function findingsOf(facts: Facts, judged: Judged): string[] {
  const { role, hasMember, nowMs } = judged
  const first = (name: string): string => facts.get(name)?.[0] ?? ''
  const listed = (name: string): readonly string[] =>
    (facts.get(name) ?? []).slice(0, bounds.listedMax)
  const findings: string[] = []
  const architecture = first('architecture')
  if (!['x86_64', 'aarch64'].includes(architecture)) {
    findings.push(`its architecture is ${architecture || 'unknown'}: use x86_64 or aarch64`)
  }
  if (first('init') !== 'systemd')
    findings.push('systemd does not run: use a system that it starts')
  if (first('packages') !== 'apt') {
    findings.push(`its system (${first('os') || 'unknown'}) has no apt: use Debian or Ubuntu`)
  }
  // The second is the tmpfs in which version 1 has its hierarchies; nodes run on both.
  if (!['cgroup2fs', 'tmpfs'].includes(first('cgroup'))) {
    findings.push('/sys/fs/cgroup has no control groups: boot a kernel that has them')
  }
  const [major = 0, minor = 0] = first('kernel').split(/[.-]/).map(Number)
  // A comparison with a text that is not a number is false.
  if (!(major > 5 || (major === 5 && minor >= 8))) {
    findings.push(`its kernel is ${first('kernel') || 'unknown'}: 5.8 or newer is needed`)
  }
  findings.push(...sizeFindings(first, role))
  const skewMs = Number(first('time')) * 1_000 - nowMs
  if (!(Math.abs(skewMs) <= bounds.clockSkewMsMax)) {
    const seconds = Math.round(Math.abs(skewMs) / 1_000)
    const side = skewMs > 0 ? 'ahead of' : 'behind'
    findings.push(`its clock is ${seconds} s ${side} the hub's: set it, e.g. with timedatectl`)
  }
  const swaps = listed('swap')
  if (swaps.length > 0)
    findings.push(`it swaps to ${swaps.join(', ')}: run swapoff -a and edit /etc/fstab`)
  for (const module of role === 'Witness' ? [] : ['overlay', 'br_netfilter']) {
    if (facts.get('module')?.includes(module) !== true) {
      findings.push(`its kernel has no module ${module}: install the kernel's modules`)
    }
  }
  for (const path of listed('leftover')) {
    findings.push(`${path} is of another Kubernetes: remove that first`)
  }
  const host = first('host').toLowerCase()
  if (host !== '' && !isNodeName(host)) {
    const text = `its host name "${host.slice(0, 80)}" cannot be the name of a node`
    findings.push(`${text}: use at most 63 lower-case letters, digits and dashes`)
  }
  return [
    ...findings,
    ...(hasMember ? etcdFindings(first, { host, hasEtcd: judged.hasEtcd }) : []),
    ...placeFindings(facts, judged),
  ]
}

/** Masters of Debian that reach a mirror fetch their etcd themselves. */
function etcdFindings(
  first: (name: string) => string,
  { host, hasEtcd }: { readonly host: string; readonly hasEtcd: boolean | undefined },
): string[] {
  const findings: string[] = []
  const [major = 0, minor = 0, patch = 0] = first('etcd').split('.').map(Number)
  const isFit = major > 3 || (major === 3 && (minor > 5 || (minor === 5 && patch >= 13)))
  const [id = ''] = first('os').split(' ')
  const none = 'it has no etcd of 3.5.13 or newer in PATH'
  if (!isFit && hasEtcd === false) {
    findings.push(`${none}, and the package has none; make it with --etcd, or install one`)
  }
  if (!isFit && hasEtcd === undefined && id !== 'debian') findings.push(`${none}: install one`)
  if (/^witness(-|$)/.test(host)) {
    findings.push(`its host name ${host} is that of a witness among the members: give it another`)
  }
  return findings
}

/** Returns true for a host name that can be the name of a node. */
export function isNodeName(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) && name.length <= 63
}

function sizeFindings(first: (name: string) => string, role: MachineRole): string[] {
  const findings: string[] = []
  const memory = Math.round(Number(first('memory')) / 1_024)
  const memoryMin = bounds.memoryMegabytesMin[role]
  if (!(memory >= memoryMin)) {
    findings.push(`it has ${memory} MB of memory: a ${role} needs ${memoryMin} MB`)
  }
  const disk = Math.round(Number(first('disk')) / 1_024)
  if (!(disk >= bounds.diskMegabytesMin)) {
    findings.push(`/var/lib has ${disk} MB free: ${bounds.diskMegabytesMin} MB are needed`)
  }
  if (!(Number(first('processors')) >= bounds.processorsMin)) {
    findings.push('its number of processors is unknown')
  }
  return findings
}

/** Returns the name of the cluster of ours to which a machine belongs; undefined if to none. */
export function clusterOf(facts: Facts): string | undefined {
  const ours = facts.get('ours')?.[0]
  return ours === undefined ? undefined : clusterInPlan(ours)
}

/** Returns the name of the cluster in a machine's plan, or in the settings of its roles. */
export function clusterInPlan(text: string): string {
  return /"clusterName":"([^"]*)"/.exec(text)?.[1] ?? ''
}

/** etcd's own, for clients and for the other members. */
export const memberPorts: readonly number[] = [2_379, 2_380]

/** Returns what stands in the way on a machine: another cluster of ours, or a port that is taken. */
function placeFindings(
  facts: Facts,
  { role, hasMember, clusterName, apiPort = apiPortDefault }: Judged,
): string[] {
  const other = clusterOf(facts)
  // Its own ports are in use: this is a repetition.
  if (other === clusterName) return []
  if (other !== undefined) {
    const name = other === '' ? 'of an unknown name' : other
    return [`it belongs to cluster ${name}: run "skerry machine clean --yes" there`]
  }
  const taken = new Set((facts.get('port') ?? []).map((hex) => Number.parseInt(hex, 16)))
  const needed = [
    ...(role === 'Master' ? [apiPort] : []),
    ...(role === 'Witness' ? [] : [10_250]),
    ...(hasMember ? memberPorts : []),
  ]
  return needed
    .filter((port) => taken.has(port))
    .map((port) => `another program listens on port ${port}: stop it`)
}

/**
 * Returns what is wrong with roles of ours that no cluster has brought, each of which would have a plan: the machine's
 * own hub, say, would be removed with the cluster.
 */
export function roleFindings(facts: Facts): string[] {
  const roles = (facts.get('role') ?? []).slice(0, bounds.listedMax)
  if (roles.length === 0 || clusterOf(facts) !== undefined) return []
  const text = `it has ${roles.join(', ')} of a role that no edge cluster has made`
  return [
    `${text}: use another machine, or remove it with everything that it holds by "skerry machine clean --yes"`,
  ]
}
