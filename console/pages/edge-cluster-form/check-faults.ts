/** Puts the findings of a check of the machines at the fields of the form. Pure. */
import { expandAddresses } from '../../data/edge/address-range.ts'
import type { EdgeClusterObject } from '../../data/edge/edge-cluster.ts'
import { wordsOf } from '../../data/browser/form-values.ts'
import type { ClusterForm, MachineForm } from './cluster-form.ts'

/** A field of a block at which a fault of its machines stands. */
export type MachineField = keyof MachineForm | 'sudo'

const fields: Readonly<Record<string, MachineField>> = {
  unreachable: 'port',
  refused: 'addresses',
  'host-key': 'hostKey',
  login: 'login',
  root: 'sudo',
}

/** Returns what keeps the hub from working on machines, by `machines.<block>.<field>`. */
export function checkFaults(
  form: ClusterForm,
  { status }: EdgeClusterObject,
): ReadonlyMap<string, string> {
  const blockOf = blocksByAddress(form)
  const found = new Map<string, string>()
  for (const { machine = '', state, nextTime, fault = '', message = '' } of status?.steps ?? []) {
    const block = blockOf.get(machine)
    const field = fields[fault]
    const isWrong = state === 'Failed' || nextTime !== undefined
    if (block === undefined || field === undefined || !isWrong) continue
    const key = `machines.${block}.${field}`
    const before = found.get(key)
    if (before?.includes(message)) continue
    found.set(key, before === undefined ? message : `${before}; ${message}`)
  }
  return found
}

function blocksByAddress({ machines }: ClusterForm): ReadonlyMap<string, number> {
  return new Map(
    machines.flatMap(({ addresses }, at) =>
      (wordsOf(addresses) ?? []).flatMap(expandAddresses).map((address) => [address, at] as const),
    ),
  )
}
