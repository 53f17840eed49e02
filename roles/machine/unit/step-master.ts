import { rm } from 'node:fs/promises'
import { asError } from '@skerry/base'
import { readFileIfPresent } from '@skerry/bootstrap'
import { writeFileDurably } from '../../runtime/data-directory.ts'
import type { RoleContext } from '../../runtime/role-context.ts'
import { removeSelf } from '../../site/etcd/leave-members.ts'
import type { UnitOrder } from '../../site/units/unit-order.ts'
import { planMaster } from './plan-master.ts'
import { abandonEtcd, isVoter, putAside } from './unit-etcd.ts'
import type { UnitSite } from './unit-site.ts'
import { unitPaths, type UnitState } from './unit-state.ts'

interface MasterHands {
  readonly dataDir: string
  readonly site: Pick<UnitSite, 'serves' | 'stop'>
  readonly context: Pick<RoleContext, 'clock' | 'log' | 'signal'>
}

/**
 * Does what an order asks of one of a unit's several servers, and returns the state that is to be written then; undefined if there
 * is nothing to do. It may be cut off anywhere, and is done again.
 */
export async function stepMaster(
  state: UnitState,
  order: UnitOrder,
  { dataDir, site, context }: MasterHands,
): Promise<UnitState | undefined> {
  const { site: path, masterToken } = unitPaths(dataDir)
  const serves = site.serves !== undefined
  if (serves) await rm(masterToken, { force: true })
  const token = await readFileIfPresent(masterToken)
  const step = planMaster({ state, serves, isVoter: await isVoter(path), token, order })
  const { joined: _left, ...alone } = state
  const { settings } = order
  switch (step.act) {
    case 'none':
      return undefined
    case 'join':
      await site.stop()
      if (state.joined === undefined) await putAside(path)
      return { ...state, settings, joined: await prepareJoin(masterToken, order) }
    case 'quit':
      // A member without a vote, which would join again if it went on.
      await site.stop()
      await removeSelf(path, context.clock, context.signal)
      await putAside(path)
      return alone
    case 'drop':
      if (order.parent.phase === 'released') await leave(path, context)
      await site.stop()
      await rm(masterToken, { force: true })
      await putAside(path)
      return alone
    case 'promote':
      return { ...alone, settings, record: { generation: step.generation, phase: 'open' } }
    case 'demote': {
      const { generation } = step
      return { ...state, joined: { generation }, record: { generation, phase: 'empty' } }
    }
    case 'end':
      await site.stop()
      await abandonEtcd(path)
      return { ...alone, record: { generation: step.generation, phase: 'sealed' } }
    default:
      return step satisfies never
  }
}

/** The others are without it already, unless the order is an old one. */
async function leave(path: string, { clock, log, signal }: MasterHands['context']): Promise<void> {
  try {
    await removeSelf(path, clock, signal)
  } catch (error) {
    signal.throwIfAborted()
    log.info('Other servers of the unit do not answer', { error: asError(error) })
  }
}

async function prepareJoin(
  path: string,
  { parent: { generation }, masterJoin }: UnitOrder,
): Promise<NonNullable<UnitState['joined']>> {
  if (masterJoin === undefined) throw new TypeError('Cannot join the unit: no way is named')
  const { server, caHash, token } = masterJoin
  await writeFileDurably(path, token)
  return { generation, way: { server, caHash } }
}
