import { packageInForce } from '../kind/package-in-force.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import type { Facts } from './preflight-facts.ts'

/** Returns why the offline package of the object cannot be used on such a machine, before anything is changed there. */
export async function packageFindings(
  facts: Facts,
  { edge, hub }: Pick<MachineContext, 'edge' | 'hub'>,
): Promise<string[]> {
  const asked = packageInForce(edge)
  if (asked === undefined) return []
  const release = (facts.get('os')?.[0] ?? '').replace(' ', '-')
  try {
    await hub.package(asked, { release, architecture: facts.get('architecture')?.[0] ?? '' })
    return []
  } catch (error) {
    if (!(error instanceof StepError)) throw error
    return [error.message]
  }
}
