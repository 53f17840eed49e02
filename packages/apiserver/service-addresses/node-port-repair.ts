import type { Service } from '@skerry/api'
import type { Logger } from '@skerry/base'
import type { CompanionWrite } from '@skerry/store'
import { storageKey } from '../cache/watch-cache.ts'
import { typed } from '../contract/typed-objects.ts'
import { AllocationRecords, holderOf, portStorage, type RecordDeps } from './allocation-records.ts'
import { serviceStorage } from './service-ranges.ts'
import { holdingsOf, portKey, portOf } from './taken-addresses.ts'

/**
 * Makes the records of node ports say what the services say. A record that changes meanwhile is left to the next
 * time.
 */
export async function repairNodePorts(
  deps: RecordDeps & { readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const { cache, log } = deps
  await cache.fresh(signal)
  const { writes, doubles } = planPortRepair(deps)
  for (const double of doubles) log.error('Two services have one node port', double)
  for (const write of writes) {
    signal.throwIfAborted()
    const { revision } = await cache.store.write(write)
    await cache.waitFor(revision, signal)
  }
  if (writes.length > 0) log.info('Records of node ports repaired', { count: writes.length })
}

interface PortRepair {
  readonly writes: readonly CompanionWrite[]
  /** Ports that two services have, with the services: a person must change one of them. */
  readonly doubles: readonly { readonly port: string; readonly services: string }[]
}

/**
 * Plans what makes the records of node ports say what the services say. Services of versions without records get
 * theirs, and records lose services that were deleted without being read.
 */
function planPortRepair(deps: RecordDeps): PortRepair {
  const { cache } = deps
  const records = new AllocationRecords(deps)
  const owners = new Map<string, string>()
  const doubles: { port: string; services: string }[] = []
  const writes: CompanionWrite[] = []
  for (const cached of cache.resource(serviceStorage).list()) {
    for (const item of holdingsOf(typed<Service>(cached.parse())).ports) {
      const other = owners.get(item)
      if (other === undefined) owners.set(item, cached.key)
      else doubles.push({ port: portOf(item) ?? item, services: `${other} ${cached.key}` })
    }
  }
  for (const [item, owner] of owners) {
    const record = cache.resource(portStorage).get(portOf(item) ?? '')
    if (record !== undefined && holderOf(record) === owner) continue
    // One of two services has the record; it keeps it.
    if (records.isHeld(item, owner)) continue
    writes.push(...records.taking({ addresses: [], ports: [item] }, owner))
  }
  for (const record of cache.resource(portStorage).list()) {
    const item = portKey(Number(record.key))
    if (owners.has(item) || records.isHeld(item, '')) continue
    writes.push({ key: storageKey(portStorage, record.key), expectRevision: record.revision })
  }
  return { writes, doubles }
}
