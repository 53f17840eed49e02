import { join } from 'node:path'
import { ExpectedError, exitCodes, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { stopSignal } from '../../runtime/role-context.ts'
import type { LeaveOptions } from '../../site/etcd/leave-etcd.ts'
import type { LoneDeps } from '../../site/etcd/lone-member.ts'
import { planRecovery, recover, type RecoveryOptions } from '../../site/etcd/recover.ts'
import { askYesOrNo } from '../../runtime/standard-input.ts'

/** Moves a site back to a file, and says how it goes on. */
export async function printLeave(options: LeaveOptions): Promise<void> {
  const { leaveEtcd } = await import('../../site/etcd/leave-etcd.ts')
  const { revision, keptAt } = await leaveEtcd(options, deps())
  console.log(`The state is in ${join(options.dataDir, 'store.db')}, at revision ${revision}.`)
  console.log('Start the site without --etcd embedded.')
  console.log(`The data of etcd is kept in ${keptAt}; remove it when everything is well.`)
}

function deps(): LoneDeps {
  const signal = stopSignal()
  return { clock: systemClock, random: systemRandom, log: silentLogger, signal }
}

/** Tells what may be lost, asks, and makes this machine's master the only one. */
export async function recoverSite({
  yes,
  ...options
}: RecoveryOptions & { readonly yes: boolean | undefined }): Promise<void> {
  const context = deps()
  const plan = await planRecovery(options, context)
  for (const line of plan.warnings) console.log(line)
  if (yes !== true && !(await askYesOrNo('Go on with this master alone?'))) {
    throw new ExpectedError('Cannot recover: it was not confirmed', exitCodes.failure)
  }
  for (const line of await recover(plan, context)) console.log(line)
}
