import type { MachinePlan } from './machine-plan.ts'
import { unitTexts } from './units-table.ts'

/** A file that the program writes on a machine, and removes again when the machine is cleaned. */
export interface MachineFile {
  readonly path: string
  readonly content: string
  readonly mode: number
}

/** The kernel modules that a node needs: containers' file systems, and rules for traffic between pods. */
export const kernelModules: readonly string[] = ['overlay', 'br_netfilter']

const switches = `# Written by skerry: the switches that its nodes need, for each boot.
net.ipv4.ip_forward = 1
net.bridge.bridge-nf-call-iptables = 1
`

/** Returns the files of a machine that a plan describes. */
export function machineFiles({
  role,
  hasVirtualIP,
}: Pick<MachinePlan, 'role' | 'hasVirtualIP'>): readonly MachineFile[] {
  const roles = [...unitsOf[role], ...(hasVirtualIP ? (['virtual-ip'] as const) : [])]
  const units = roles.map(unitFile)
  // A witness runs no pods.
  if (role === 'Witness') return units
  const modules = `# Written by skerry.\n${kernelModules.join('\n')}\n`
  return [
    ...units,
    { path: '/etc/modules-load.d/skerry.conf', content: modules, mode: 0o644 },
    { path: '/etc/sysctl.d/90-skerry.conf', content: switches, mode: 0o644 },
  ]
}

const unitsOf = {
  Master: ['site', 'node'],
  Node: ['node'],
  Witness: ['witness'],
} as const

/** Returns every file that this program may have written on a machine, whatever its plan was. */
export function allMachineFiles(): readonly MachineFile[] {
  return [...machineFiles({ role: 'Master', hasVirtualIP: true }), unitFile('witness')]
}

function unitFile(role: keyof typeof unitTexts): MachineFile {
  return { path: unitPath(role), content: unitTexts[role], mode: 0o644 }
}

export function unitPath(role: string): string {
  return `/etc/systemd/system/skerry-${role}.service`
}
