import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import type { ProgramUser } from '../up/programs-table.ts'
import { apiPortDefault, edgeNetworkDefaults } from '@skerry/provisioning'

const planSchema = z.object({
  clusterName: z.string().min(1),
  nodeName: z.string().min(1),
  role: z.enum(['Master', 'Node', 'Witness']),
  podCIDR: z.string().default(edgeNetworkDefaults.podCIDR),
  serviceCIDR: z.string().default(edgeNetworkDefaults.serviceCIDR),
  /** Whether the machine reaches no mirrors, so that all packages must be there. */
  isOffline: z.boolean().default(false),
  /** Whether an address may come to this master that several hold in turn. */
  hasVirtualIP: z.boolean().default(false),
  /** The port of the site's API on a master. */
  apiPort: z.int().min(1).max(65_535).default(apiPortDefault),
})

/** A hub's or a person's plan for a machine. */
export type MachinePlan = z.infer<typeof planSchema>

/** The place of the plan on a machine that a hub has prepared. */
export const planPath = '/etc/skerry/machine.json'

/** Returns the users of system programs on a machine with this plan. */
export function programUsersOf({ role, hasVirtualIP }: MachinePlan): ProgramUser[] {
  // A witness runs etcd alone.
  const own: ProgramUser[] = role === 'Witness' ? [] : ['node']
  return hasVirtualIP ? [...own, 'virtual IP'] : own
}

/** Reads a plan. Rejects with an ExpectedError that names the file and the field. */
export async function readMachinePlan(path: string): Promise<MachinePlan> {
  try {
    return planSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)
    throw new ExpectedError(`Cannot read plan ${path}: ${why}`, exitCodes.usage, { cause: error })
  }
}
