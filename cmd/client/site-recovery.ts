import { ExpectedError, exitCodes, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { stopSignal } from '../../roles/runtime/role-context.ts'
import { planRecovery, recover, type RecoveryOptions } from '../../roles/site/etcd/recover.ts'
import { askYesOrNo } from '../flags/standard-input.ts'

/** Tells what may be lost, asks, and makes this machine's master the only one. */
export async function recoverSite({
  yes,
  ...options
}: RecoveryOptions & { readonly yes: boolean | undefined }): Promise<void> {
  const signal = stopSignal()
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger, signal }
  const plan = await planRecovery(options, deps)
  for (const line of plan.warnings) console.log(line)
  if (yes !== true && !(await askYesOrNo('Go on with this master alone?'))) {
    throw new ExpectedError('Cannot recover: it was not confirmed', exitCodes.failure)
  }
  for (const line of await recover(plan, deps)) console.log(line)
}
