import { packageInForce } from '../kind/package-in-force.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import type { Facts } from './preflight-facts.ts'

export interface SeenPackage {
  /** Why the package cannot be used on the machine. */
  readonly findings: readonly string[]
  /** Whether it brings an etcd; undefined for an object without a package. */
  readonly hasEtcd?: boolean
}

/** Looks what the offline package of the object has for such a machine, before anything is changed there. */
export async function lookAtPackage(
  facts: Facts,
  { edge, hub }: Pick<MachineContext, 'edge' | 'hub'>,
): Promise<SeenPackage> {
  const asked = packageInForce(edge)
  if (asked === undefined) return { findings: [] }
  const release = (facts.get('os')?.[0] ?? '').replace(' ', '-')
  const architecture = facts.get('architecture')?.[0] ?? ''
  try {
    const { etcd } = await hub.package(asked, { release, architecture })
    return { findings: [], hasEtcd: etcd !== undefined }
  } catch (error) {
    if (!(error instanceof StepError)) throw error
    return { findings: [error.message] }
  }
}
