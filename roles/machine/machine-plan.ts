import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import { apiPortDefault, edgeNetworkDefaults } from '@skerry/provisioning'

const planSchema = z.object({
  clusterName: z.string().min(1),
  nodeName: z.string().min(1),
  role: z.enum(['Master', 'Node']),
  podCIDR: z.string().default(edgeNetworkDefaults.podCIDR),
  serviceCIDR: z.string().default(edgeNetworkDefaults.serviceCIDR),
  /** Whether the machine reaches no mirrors, so that all packages must be there. */
  isOffline: z.boolean().default(false),
  /** The port of the site's API on a master. */
  apiPort: z.int().min(1).max(65_535).default(apiPortDefault),
})

/** A hub's or a person's plan for a machine. */
export type MachinePlan = z.infer<typeof planSchema>

/** Reads a plan. Rejects with an ExpectedError that names the file and the field. */
export async function readMachinePlan(path: string): Promise<MachinePlan> {
  try {
    return planSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)
    throw new ExpectedError(`Cannot read plan ${path}: ${why}`, exitCodes.usage, { cause: error })
  }
}
